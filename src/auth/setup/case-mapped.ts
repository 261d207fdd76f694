import { hasUnseen, limitLength } from './identifiers.ts'

/**
 * A `normalize` for user names (RFC 8265, UsernameCaseMapped): `Ann`, `ＡＮＮ` and `ann` are one name. Letters, digits and
 * the signs of ASCII are allowed; blanks, symbols and invisible characters are not.
 *
 * ```ts
 * import { caseMapped, createAuthRouter } from 'fieldgate'
 *
 * const identifiers = ['email', { field: 'username', normalize: caseMapped }] as const
 * ```
 */
export function caseMapped(text: string): string | undefined {
  return mapped(text)
}

const mapped = limitLength((text) => {
  const name = text
    .trim()
    .replace(WIDE_OR_NARROW, (character) => character.normalize('NFKC'))
    .toLowerCase()
    .normalize('NFC')
  const isName =
    name !== '' && !hasUnseen(name) && isOfClass(name) && isInContext(name) && isOneWay(name)
  return isName ? name : undefined
})

const WIDE_OR_NARROW = /[\uff01-\uffef]/g

// RFC 8264: letters, digits and marks (9.1), ASCII without the blank (9.11), and exceptions (9.6).
const CLASS =
  /^[!-~\u00b7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u3007\u30fb\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}]+$/u
// Exceptions (9.6) and old Hangul (9.9).
const EXCLUDED =
  /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/

function isOfClass(name: string): boolean {
  // A character that stands for another, such as ⅳ (9.17).
  const isItself = (character: string) => character.normalize('NFKC') === character
  return CLASS.test(name) && !EXCLUDED.test(name) && [...name].every(isItself)
}

/** Characters that are allowed beside certain others (RFC 5892, appendix A); joiners are invisible, and never are. */
function isInContext(name: string): boolean {
  const isAlone =
    /(?<!l)\u00b7|\u00b7(?!l)/.test(name) ||
    /\u0375(?!\p{Script=Greek})/u.test(name) ||
    /(?<!\p{Script=Hebrew})[\u05f3\u05f4]/u.test(name) ||
    (/\u30fb/.test(name) && !/[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u.test(name))
  return !isAlone && !(ARABIC_DIGIT.test(name) && /[\u06f0-\u06f9]/.test(name))
}

const ARABIC_DIGIT = /[\u0660-\u0669]/
/** The blocks of scripts that are written from right to left. */
const LEFTWARDS =
  '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufeff\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}'
const IS_LEFTWARDS = new RegExp(`[${LEFTWARDS}]`, 'u')
const FIRST = new RegExp(`^(?=\\p{L})[${LEFTWARDS}]`, 'u')
const LAST = new RegExp(`(?:(?=\\p{L})[${LEFTWARDS}]|\\p{Nd})\\p{Mn}*$`, 'u')
const RIGHTWARDS = new RegExp(`(?![${LEFTWARDS}])[\\p{L}\\p{Mc}]|(?![0-9${LEFTWARDS}])\\p{Nd}`, 'u')

/** The Bidi Rule (RFC 5893, 2): a name is written in one direction, and shows in the order of its characters. */
function isOneWay(name: string): boolean {
  if (!IS_LEFTWARDS.test(name)) return true
  const mixesDigits = ARABIC_DIGIT.test(name) && /[0-9\u06f0-\u06f9]/.test(name)
  return FIRST.test(name) && LAST.test(name) && !RIGHTWARDS.test(name) && !mixesDigits
}
