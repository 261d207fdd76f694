/**
 * Which of SQLite's result codes an error stands for. `exec` on Deno (2.9) gives the message alone, so that tells where
 * there is no code.
 *
 * @module
 */

/** The primary result codes that are told apart: https://sqlite.org/rescode.html */
export const RESULT = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  FULL: 13,
  CANTOPEN: 14,
  TOOBIG: 18,
} as const

/** SQLite's own texts, with which its messages begin. */
const TEXTS: readonly (readonly [text: string, code: number])[] = [
  ['database is locked', RESULT.BUSY],
  ['database table is locked', RESULT.LOCKED],
  ['attempt to write a readonly database', RESULT.READONLY],
  ['disk I/O error', RESULT.IOERR],
  ['database or disk is full', RESULT.FULL],
  ['unable to open database', RESULT.CANTOPEN],
  ['string or blob too big', RESULT.TOOBIG],
]

/** The primary result code of an error, undefined for one that is not SQLite's or is of another kind. */
export function resultCode(error: unknown): number | undefined {
  const { errcode, message } = error as { errcode?: unknown; message?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  const text = String(message)
  return TEXTS.find(([begin]) => text.startsWith(begin))?.[1]
}
