/**
 * How calls send their requests, and what is remembered of the records that come back.
 *
 * @module
 */

import { type Answer, type Ask, resultOf } from './answers.ts'
import type { Call, Connection } from './connection.ts'
import type { Condition, CreateOptions } from './records.ts'
import type { Result } from './results.ts'

/** What is remembered of a record that was read: its tag, or the response that it came in. */
interface Origin {
  readonly etag?: string | undefined
  readonly text: string
  /** Its place in a list. */
  readonly index?: number
}

type Values = Readonly<Record<string, unknown>>

/** What sends requests, for all mounts of a client. */
export interface Sending {
  readonly call: Connection['call']
  /** The result of a call, whose records are remembered unless they are parts. */
  shown<T>(answer: Answer, isPart?: boolean): Result<T, Values>
  /** Sends one request. The 401 of an open route is about what was sent, not about the access token. */
  one(
    method: string,
    path: string,
    body?: Ask['body'],
    options?: CreateOptions & Condition,
    call?: Call,
    isOpen?: boolean,
  ): Promise<Result<unknown, Values>>
}

/** What the server answers to a write of a record that has changed since it was read. */
const CHANGED = { success: false, error: 'The record has changed since it was read.' }

/** Sends requests by `call`. */
export function sending(begin: Connection['call']): Sending {
  const known = new WeakMap<object, Origin>()
  // With `output`, a record may be anything.
  const remember = (record: unknown, origin: Origin) =>
    void (record instanceof Object && known.set(record, origin))

  function shown<T>(answer: Answer, isPart?: boolean): Result<T, Values> {
    const result = resultOf<T, Values>(answer)
    const { text } = answer
    if (result.ok && !isPart) {
      const { data, etag } = result
      if (Array.isArray(data))
        data.forEach((record, index) => void remember(record, { text, index }))
      else remember(data, { text, etag })
    }
    return result
  }

  const one: Sending['one'] = async (
    method,
    path,
    body,
    { ifMatch, idempotencyKey, headers, signal, onProgress } = {},
    call = begin(),
    isOpen,
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the steps stand in their order
  ) => {
    const options = { path, headers, signal }
    let tag: string | object | undefined | null = ifMatch
    if (tag instanceof Object) {
      const origin = known.get(tag)
      if (!origin) {
        throw new TypeError(`'ifMatch' must be an ETag, or a record as this client has returned it`)
      }
      tag = origin.etag
      // A list has no tags, so the record is read again and compared.
      if (tag === undefined) {
        const read = await call.ask({ ...options, method: 'GET' })
        if (!read.body?.success) return resultOf(read)
        if (stateIn(origin) !== stateIn(read)) {
          return resultOf({ ...read, status: 412, body: CHANGED })
        }
        tag = read.headers.get('ETag')
        if (tag === null) {
          throw new TypeError(`'ifMatch' needs Access-Control-Expose-Headers: ETag`)
        }
      }
    }
    const own = { ...headers, 'If-Match': tag, 'Idempotency-Key': idempotencyKey }
    return shown(await call.ask({ ...options, method, body, headers: own, onProgress }, isOpen))
  }
  return { call: begin, shown, one }
}

/** A record as it was read, whatever has been done to the object since. */
function stateIn({ text, index }: Pick<Origin, 'text' | 'index'>): string {
  const { data } = JSON.parse(text)
  return JSON.stringify(index === undefined ? data : data[index])
}
