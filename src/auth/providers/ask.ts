/** Calls a provider: one deadline for all calls of a sign-in, no redirects, and a limit on the bytes of a response. */

import { isFields } from '../../model/writable.ts'
import { joined } from '../../ports/values/bytes.ts'
import { causesOf } from '../../ports/values/causes.ts'
import * as refuse from '../refusals.ts'

/** Milliseconds that a provider has for one sign-in, all calls together. */
export const DEADLINE_MS = 8000
const MAX_BYTES = 1024 * 1024

export interface Answer {
  readonly status: number
  /** The parsed JSON object, or undefined if the body is not one. */
  readonly body: Readonly<Record<string, unknown>>
  /** The parsed JSON, which may be a list. */
  readonly json: unknown
}

/** Calls a provider within the deadline. Throws a 503 if the provider cannot be reached, or is broken. */
export type Ask = (url: string, init?: RequestInit) => Promise<Answer>

/** An `Ask` for one sign-in. */
export function createAsk(): Ask {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  return async (url, init = {}) => {
    const response = await fetchLimited(url, { ...init, signal })
    const json: unknown = await response.json().catch(() => undefined)
    return { status: response.status, body: isFields(json) ? json : {}, json }
  }
}

export function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const to = new URL(url)
  for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value)
  return to.href
}

/** `fetch`, with the body already read: at most 1 MiB, no redirect followed. Throws a 503. */
export async function fetchLimited(url: string, init: RequestInit): Promise<Response> {
  try {
    // A redirect might lead into the server's own network, so it is treated like any other response.
    const response = await fetch(url, { ...init, redirect: 'manual' })
    const { status } = response
    // Redirects, failures, and a provider that limits us say nothing about the credential.
    if (status === 0 || (status >= 300 && status < 400) || limits(response) || status >= 500) {
      throw new Error(`${new URL(url).origin} responded with ${status}`)
    }
    const body = await readLimited(response)
    return new Response(body as BodyInit, { status, headers: response.headers })
  } catch (error) {
    // Deno's messages have the whole URL, and Facebook wants the token and the app's secret in its query.
    const { href, origin } = new URL(url)
    const told = causesOf(error).map(({ message }) => message.replaceAll(href, origin))
    throw refuse.providerUnreachable(new Error(told.join(': ')))
  }
}

/** Whether a provider had too many requests: a 429 (RFC 6585), or GitHub's 403. */
function limits({ status, headers }: Response): boolean {
  const isTold = headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'
  return status === 429 || (status === 403 && isTold)
}

/** What clients are told, too, by the 503. */
const PAUSE_MS = 5000

/**
 * `fetchLimited`, which after a failure fails for some seconds without a call: anyone can cause these, as often as they like,
 * and a provider that is down or limits us must not be hammered.
 */
export function fetchPaused(): typeof fetchLimited {
  let until = 0
  return async (url, init) => {
    if (performance.now() < until) throw refuse.providerUnreachable()
    const asked = fetchLimited(url, init)
    const response = await asked.catch(() => undefined)
    if (!response?.ok) until = performance.now() + PAUSE_MS
    return asked
  }
}

async function readLimited(response: Response): Promise<Uint8Array | null> {
  if (!response.body || response.status === 204) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error('the response of the provider is too large')
    chunks.push(chunk)
  }
  return joined(chunks)
}
