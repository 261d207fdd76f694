/**
 * One request and its response, as the rest of the client sees it.
 *
 * @module
 */

import type { Failure, Result } from './results.ts'

/** The progress of an upload, in bytes. */
export interface Progress {
  readonly loaded: number
  readonly total: number
}

/** A request. */
export interface Ask {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON if it is no form. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Told of the upload, where the platform can. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** A response. */
export interface Answer {
  /** 0 if there was none. */
  readonly status: number
  readonly text: string
  /** The envelope; undefined if something else has answered, such as a proxy. */
  readonly body: Envelope | undefined
  header(name: string): string | null
}

interface Envelope extends Omit<Failure, 'status' | 'message' | 'retryAfter'> {
  readonly success: boolean
  readonly data?: unknown
  readonly message?: string
  readonly error?: string
  readonly pagination?: unknown
}

/** Sends a request. It never rejects. */
export async function answered(ask: Ask, send: typeof fetch): Promise<Answer> {
  const { body, url, onProgress, signal, ...rest } = ask
  const isJson = body !== undefined && !(body instanceof FormData)
  const headers = {
    Accept: 'application/json',
    ...(isJson && { 'Content-Type': 'application/json' }),
    ...rest.headers,
  }
  const init: RequestInit & { method: string; headers: Record<string, string> } = {
    method: rest.method,
    headers,
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as FormData) }),
    ...(signal && { signal }),
  }
  try {
    if (onProgress && 'XMLHttpRequest' in globalThis) return await uploaded(url, init, onProgress)
    const response = await send(url, init)
    return answer(response.status, await response.text(), (name) => response.headers.get(name))
  } catch (error) {
    return answer(0, error instanceof Error ? error.message : String(error), () => null)
  }
}

/** The request through XMLHttpRequest, the only way to see the progress of an upload. */
function uploaded(
  url: string,
  init: RequestInit & { method: string; headers: Record<string, string> },
  onProgress: (progress: Progress) => void,
): Promise<Answer> {
  const request = new XMLHttpRequest()
  return new Promise((resolve, reject) => {
    request.open(init.method, url)
    for (const [name, value] of Object.entries(init.headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress({ loaded, total })
    request.onload = () =>
      resolve(
        answer(request.status, request.responseText, (name) => request.getResponseHeader(name)),
      )
    const fail = (message: string) => () => reject(new Error(message))
    request.onerror = fail('The request failed.')
    request.onabort = fail('The request was aborted.')
    const abort = () => request.abort()
    init.signal?.addEventListener('abort', abort)
    if (init.signal?.aborted) return fail('The request was aborted.')()
    request.onloadend = () => init.signal?.removeEventListener('abort', abort)
    request.send(init.body as FormData)
  })
}

function answer(status: number, text: string, header: Answer['header']): Answer {
  return { status, text, header, body: envelope(text) }
}

function envelope(text: string): Envelope | undefined {
  try {
    const body = JSON.parse(text)
    return typeof body?.success === 'boolean' ? body : undefined
  } catch {
    return undefined
  }
}

/** Whether the server did what was asked. */
export function succeeded({ body }: Answer): boolean {
  return body?.success === true
}

/** The failure that an answer tells of. */
export function failed({ status, text, header, body }: Answer): Failure {
  const { success: _, error, data: __, pagination: ___, message: ____, ...rest } = body ?? {}
  const retryAfter = secondsIn(header('Retry-After'))
  return {
    ...(rest as Partial<Failure>),
    status,
    message: error ?? (status === 0 ? text : `The server answered ${status} without JSON.`),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/** The result that an answer tells of; its data is the message where there is no other. */
export function resultOf<T, P>(answer: Answer): Result<T, P> {
  if (!succeeded(answer)) return { ok: false, error: failed(answer) }
  const { data, message, pagination } = answer.body ?? {}
  const etag = answer.header('ETag')
  return {
    ok: true,
    data: (data === undefined ? message : data) as T,
    ...(pagination !== undefined && { pagination: pagination as P }),
    ...(etag !== null && { etag }),
  }
}

/** The seconds in `Retry-After`: a number, or a date (RFC 9110, 10.2.3). */
function secondsIn(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds))
}
