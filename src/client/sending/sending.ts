/** How calls send their requests, and what is remembered of the records that come back. */

import { type Answer, type Ask, resultOf } from './answers.ts'
import type { Condition, CreateOptions } from './call-options.ts'
import type { Call, Connection } from './connection.ts'
import type { Origin } from './if-match.ts'
import type { Load } from './parts.ts'
import type { Result } from './results.ts'

type Values = Readonly<Record<string, unknown>>

export interface Sending {
  readonly call: Connection['call']
  /** The result of a call, whose records are remembered, unless `choice` says that they are parts of records. */
  shown<T>(answer: Answer, choice?: unknown): Result<T, Values>
  /** Sends one request. The 401 of an open route is about what was sent, not about the access token. */
  one(
    method: string,
    path: string,
    body?: Ask['body'],
    options?: CreateOptions & Condition & Pick<Ask, 'keepalive'>,
    call?: Call,
    isOpen?: boolean,
  ): Promise<Result<unknown, Values>>
}

export function sending(begin: Connection['call'], later: Load): Sending {
  const known = new WeakMap<object, Origin>()
  // With `output`, a record may be anything.
  const remember = (record: unknown, origin: Origin) =>
    void (record instanceof Object && known.set(record, origin))

  function shown<T>(answer: Answer, choice?: unknown): Result<T, Values> {
    const result = resultOf<T, Values>(answer)
    const { text } = answer
    if (result.ok && !choice) {
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
    { ifMatch, idempotencyKey, ...options } = {},
    call = begin(),
    isOpen,
  ) => {
    let tag: string | undefined
    if (ifMatch !== undefined) {
      const { tagOf } = await later()
      const readAgain = () => call.ask({ ...options, method: 'GET', path })
      const found = await tagOf(ifMatch, known, readAgain)
      if (typeof found === 'object') return resultOf(found)
      tag = found
    }
    const own = { ...options.headers, 'If-Match': tag, 'Idempotency-Key': idempotencyKey }
    return shown(await call.ask({ ...options, method, path, body, headers: own }, isOpen))
  }
  return { call: begin, shown, one }
}
