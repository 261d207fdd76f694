/** Which version of a record a caller has read, for the condition of a write. It is loaded when it is used. */

import type { Answer } from './answers.ts'

/** What is remembered of a record that was read: its tag, or the response that it came in. */
export interface Origin {
  readonly etag?: string | undefined
  readonly text: string
  /** Its place in a list. */
  readonly index?: number
}

const CHANGED = { success: false, error: 'The record has changed since it was read.' }

/** The tag of the version that was read; else an answer that says why the write can't be. */
export async function tagOf(
  read: string | object,
  known: WeakMap<object, Origin>,
  readAgain: () => Promise<Answer>,
): Promise<string | Answer> {
  if (typeof read === 'string') return strong(read)
  const origin = known.get(read)
  if (!origin) {
    throw new TypeError(`'ifMatch' must be an ETag, or a record as this client has returned it`)
  }
  // A list has no tags, so the record is read again and compared.
  if (origin.etag !== undefined) return strong(origin.etag)
  const now = await readAgain()
  if (!now.body?.success) return now
  if (stateIn(origin) !== stateIn(now)) return { ...now, status: 412, body: CHANGED }
  const tag = now.headers.get('ETag')
  if (tag === null) throw new TypeError(`'ifMatch' needs Access-Control-Expose-Headers: ETag`)
  return strong(tag)
}

/** A tag as the server gave it: a proxy that compresses makes it weak, and then it never holds. */
function strong(tag: string): string {
  return tag.replace(/^W\//, '')
}

/** A record as it was read, whatever has been done to the object since. */
function stateIn({ text, index }: Pick<Origin, 'text' | 'index'>): string {
  const { data } = JSON.parse(text)
  return JSON.stringify(index === undefined ? data : data[index])
}
