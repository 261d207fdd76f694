/**
 * Values that databases are known to disagree on, and the JSON texts that carry them.
 *
 * @module
 */

import type { Random } from '../../../extras/contract/store/random.ts'
import { LANGUAGES, NAMED_KEYS } from './languages.ts'

/** Stands for the id of a record that is there when the request is sent; `other` for one of the other model. */
export const idToken = (random: Random, kind: 'id' | 'other' = 'id'): string =>
  `~${kind}${random.below(40)}~`

/** Texts. */
export const TEXTS = [
  ...[
    '',
    'a',
    'A',
    'b',
    'B',
    'ab',
    'a b',
    ' a',
    'é',
    'É',
    'e\u0301',
    'ß',
    'SS',
    'ẞ',
    'ſ',
    's',
    'K',
    'k',
  ],
  ...[
    'İ',
    'ı',
    'i',
    'I',
    'σ',
    'ς',
    'Σ',
    'ǅ',
    'ﬀ',
    '\u0000',
    'a\u0000b',
    '😀',
    '\ud800',
    'a\udc00',
    '\uffff',
  ],
  ...[
    '%',
    '_',
    '\\',
    '"',
    "'",
    "it's",
    '*',
    '.*',
    '[a',
    '(',
    '^a',
    '$',
    '$a',
    'a.b',
    '{}',
    '[]',
    '\u2028',
    '\ufeff',
  ],
  ...[
    'NaN',
    'null',
    'true',
    'false',
    '1',
    '01',
    '1.0',
    '1e3',
    '-0',
    'Infinity',
    '0x10',
    '2024-01-01',
    '-',
    '..',
  ],
  'x'.repeat(300),
  ...LANGUAGES,
] as const

/** Numbers as the texts that a body or a parameter holds: JSON has no other way to say -0 or 2^63. */
export const NUMBERS = [
  ...[
    '0',
    '1',
    '2',
    '3',
    '-1',
    '-0',
    '0.1',
    '-2.5',
    '13',
    '1e21',
    '0.3333333333333333',
    '1e-7',
    '1e308',
  ],
  ...[
    '-1e308',
    '5e-324',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
  ],
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775808',
    '18446744073709551616',
    '1e400',
  ],
] as const

/** Whole numbers that a record can hold. */
export const INTEGERS = [
  '0',
  '1',
  '2',
  '3',
  '-1',
  '-0',
  '13',
  '9007199254740991',
  '-9007199254740991',
] as const

/** Dates as texts: the first six are dates that a record can hold. */
export const DATES = [
  ...[
    '0000-01-01',
    '0000-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
    '9999',
    '1970-01-01',
    '2024-02-29',
  ],
  ...[
    '2024-02-30',
    '+010000-01-01T00:00:00Z',
    '2024-01-01T12:00:00+02:00',
    '2024-01-01T10:00:00Z',
    '0',
    '-1',
    '1',
  ],
  ...[
    '253402300799999',
    '253402300800000',
    '-62167219200000',
    '-62167219200001',
    '2024-01-01',
    'x',
    '0001-01-01',
  ],
] as const

/** Keys of free objects. */
export const KEYS = [
  'a',
  'b',
  'é',
  '0',
  '10',
  '2',
  ' ',
  'x y',
  '$a',
  'a.b',
  '',
  '_id',
  '__v',
  'length',
  '_bsontype',
  'toJSON',
  ...NAMED_KEYS,
] as const

/** The values of an enumeration. */
export const CHOICES = ['cup', 'Jug', 'pot', 'é'] as const

/** A number that is written as it stands, once the body is text. */
export function raw(text: string): string {
  return `\u0001raw ${text}\u0001`
}

/** The JSON text of a value; `raw` numbers as they stand. */
export function jsonOf(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(/"\\u0001raw ([^"\\]*)\\u0001"/g, '$1')
}

/** A text of any kind. */
export function anyText(random: Random): string {
  return random.of(TEXTS)
}

/** A JSON value of any type, up to `depth` containers deep. */
export function anything(random: Random, depth = random.below(4)): unknown {
  const kind = random.below(depth > 0 ? 10 : 6)
  if (kind < 2) return random.of(TEXTS)
  if (kind < 4) return raw(random.of(NUMBERS))
  if (kind === 4) return random.chance(50)
  if (kind === 5) return random.of([null, null, false, raw('1'), raw('0'), random.of(DATES)])
  if (kind < 8) return random.list(3, () => anything(random, depth - 1))
  return Object.fromEntries(random.list(3, () => [random.of(KEYS), anything(random, depth - 1)]))
}

/** A value that nests one to twelve containers. */
export function deep(random: Random): unknown {
  let value: unknown = anything(random, 0)
  for (let level = random.below(12); level >= 0; level -= 1) {
    value = random.chance(50) ? [value] : { [random.of(KEYS)]: value }
  }
  return value
}
