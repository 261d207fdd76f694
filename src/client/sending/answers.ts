/** One request and its response, as the rest of the client sees it. */

import type { Failure, Result, Success } from './results.ts'

/** The progress of an upload, in bytes. */
export interface Progress {
  readonly loaded: number
  readonly total: number
}

export interface Ask {
  readonly method: string
  /** It comes after the client's URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** JSON, or a form. */
  readonly body?: string | FormData | undefined
  readonly signal?: AbortSignal | undefined
  /** Sent also if the page ends meanwhile. */
  readonly keepalive?: boolean | undefined
  /** Told of the upload, where the platform can. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface Answer {
  /** 0 if there was none. */
  readonly status: number
  readonly text: string
  /** The envelope; undefined if something else has answered, such as a proxy. */
  readonly body: Envelope | undefined
  readonly headers: Pick<Headers, 'get'>
}

interface Envelope extends Omit<Failure, 'status' | 'message' | 'retryAfter'> {
  readonly success: boolean
  readonly data?: unknown
  readonly message?: string
  readonly error?: string
  readonly pagination?: unknown
}

/** A value as JSON. Throws a `TypeError` for what JSON would turn into null, which removes a field, or cannot say. */
export function json(value: unknown): string {
  const paths = new Map<unknown, string>()
  return JSON.stringify(value, function (this: Record<string, unknown>, name, written) {
    const raw = this[name]
    const path = (paths.get(this) ?? '') + name
    const number = raw instanceof Date ? Number(raw) : written
    if (typeof number === 'bigint' || (typeof number === 'number' && !Number.isFinite(number))) {
      throw new TypeError(`'${path}' is ${raw}, which JSON can't say.`)
    }
    paths.set(written, path && `${path}.`)
    return written
  })
}

export type Received = Pick<Response, 'status' | 'text'> & Pick<Answer, 'headers'>

/** A response; something else than fieldgate may have made it. */
export function answer(status: number, text: string, headers: Answer['headers']): Answer {
  let body: Envelope | undefined
  try {
    body = JSON.parse(text)
  } catch {
    // A proxy's page.
  }
  return { status, text, headers, body: typeof body?.success === 'boolean' ? body : undefined }
}

/** The result that an answer tells of; its data is the message where there is no other. */
export function resultOf<T, P>({ status, text, headers, body }: Answer): Result<T, P> {
  const { success, error, data, message, pagination, ...rest } = body ?? {}
  if (success) {
    return {
      pagination,
      etag: headers.get('ETag') ?? undefined,
      changeId: headers.get('Change-Id') ?? undefined,
      ok: true,
      data: data === undefined ? message : data,
    } as Success<T, P>
  }
  // A number of seconds, or a date (RFC 9110, 10.2.3). Null is neither.
  const after = headers.get('Retry-After') as string
  const seconds = /^\d+$/.test(after)
    ? Number(after)
    : (Date.parse(after) - (Date.parse(headers.get('Date') as string) || Date.now())) / 1000
  return {
    ok: false,
    error: {
      ...(rest as Partial<Failure>),
      status,
      message: error ?? (status ? `The server answered ${status} without JSON.` : text),
      ...(Number.isFinite(seconds) && { retryAfter: Math.max(0, Math.ceil(seconds)) }),
    },
  }
}
