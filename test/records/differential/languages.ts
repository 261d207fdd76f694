/**
 * Texts of many languages, and names and keys that some place in some store may take for something else.
 *
 * @module
 */

const LETTERS =
  'Ꭰ ꭰ ᲀ в В ა Ა 𐐀 𐐨 𞤀 𞤢 ᾈ ᾀ ΐ ﬅ ﬆ Ω ω Å å µ μ ϐ β ẛ ṡ ŉ ι ℋ ⅰ Ⅰ ⓐ Ⓐ ａ Ａ ǆ Ǆ ȿ Ɀ ꞑ Ꞑ Ᵹ ᵹ ῼ ῳ ᾳ ﬃ N M aa aaaa ssss ẞß'
const WORDS =
  'İstanbul istanbul ISTANBUL ıstanbul STRASSE Straße ΟΔΥΣΣΕΥΣ οδυσσεύς οδυσσευς مرحبا שלום สวัสดี 日本語 中文 が ガ ｶﾞ 🇳🇱 abcdef ABCDEFG bcdefg'
const MARKS = '&amp; <b> a\\ \\\\ \\n \\u0000 \'\' []a :a ?1 ~ %00 =1+1 +1 @a -1+1 a,b a"b "a"'

/** Texts. */
export const LANGUAGES: readonly string[] = [
  ...`${LETTERS} ${WORDS} ${MARKS}`.split(' '),
  ...[
    '\u0399\u0308\u0301',
    'か\u3099',
    '\u0345',
    'α\u0345',
    'i\u0307',
    '\u2126',
    '\u212a',
    '\u212b',
  ],
  ...[
    '👨\u200d👩\u200d👧',
    '👩🏽\u200d🚀',
    '\u200b',
    'a\u200bb',
    '\u202eabc',
    '\u2067x\u2069',
    '\u00ad',
  ],
  ...[
    '\ufeffa',
    'a\ufeff',
    '\ufffd',
    '\ufffe',
    '\ue000',
    '\ud7ff',
    '\u{10ffff}',
    '\u0085',
    '\u007f',
  ],
  ...[
    '\u0001',
    'a\u0001',
    '\u0001\u0001',
    '\u0001\u0002',
    '\u0000\u0001',
    '\u0000\u0000',
    '\u001f',
  ],
  ...['\r', '\n', '\r\n', '\t', '\t=1', 'a\nb'],
]

const OWN_NAMES =
  '; ?1 a$1 :name @x a:day a,b * # a/b a~b 0 1 2 ı İ ß ` 😀 a\\b [0] NaMe or count sum by aggregate a&b a=b a+b ( {a} <a> _x'
const INNER_NAMES =
  'oid shape f0 value0 value1 element element1 elements leaf anchor held position new old list entry fields rows written data row record table user null true'

/** Names of fields. */
export const NAMES: readonly string[] = [
  ...`${OWN_NAMES} ${INNER_NAMES}`.split(' '),
  ...['the one', 'size ', 'x y z', "'", 'e\u0301', '\u2028'],
]

const INHERITED = '__proto__ constructor hasOwnProperty valueOf isPrototypeOf then'

/** Keys of free objects. */
export const NAMED_KEYS: readonly string[] = [
  ...`${INHERITED} a\\b 😀 -1 01 4294967295 1e3 * [0] _lock _grams in out is $$ROOT É NaN null`.split(
    ' ',
  ),
  ...['a"b', 'a\nb', '\u0001', '\u0000', 'a\u0000b', "it's", '\u2028', 'e\u0301', 'x'.repeat(200)],
]
