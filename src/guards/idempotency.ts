/** Idempotency keys (draft-ietf-httpapi-idempotency-key-header-08). */

import { hexDigestOf } from '#hmac'
import { passedOf } from '../app/guards.ts'
import { base64url, bytesIn } from '../http/base64url.ts'
import { causeOf } from '../http/errors/outages.ts'
import type { ApiRequest } from '../http/request/request.ts'
import * as rule from '../model/option-rules.ts'
import { checkOptions, type Fail, failAs, type Rule } from '../model/option-rules.ts'
import { ownId } from '../model/own-records.ts'
import type { CacheStore } from '../ports/services/cache.ts'
import { pathOf } from '../ports/values/paths.ts'
import { Author } from '../records/engine/author.ts'
import { describeGuard } from '../records/engine/guards.ts'
import { perApp } from '../records/engine/host.ts'
import { hasWrittenNothing, KEYED, type Keyed, noteKey } from '../records/engine/keyed-writes.ts'
import type { Context, Guard } from '../records/engine/route.ts'
import {
  type Claim,
  type Claims,
  cacheClaims,
  type KeptResponse,
  LEFT_AFTER_MS,
  storeClaims,
} from './idempotency-claims.ts'
import { keyInUse, keyRequired, keyReused, malformedKey } from './refusals.ts'

/** Options of `idempotency`. */
export interface IdempotencyOptions {
  /** How long a response is repeated, in seconds. It must be longer than any request takes. */
  readonly ttlSeconds: number
  /** Where responses are kept. Default: the app's store, in a collection of its own. A cache may lose them. */
  readonly cache?: CacheStore
  /** Whether a write without the header is refused with a 400. Default false. */
  readonly required?: boolean
}

const RULES: Readonly<Record<keyof IdempotencyOptions, Rule>> = {
  ttlSeconds: rule.natural,
  cache: rule.counting,
  required: rule.flag,
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY', 'TRACE'])

/** Refusals that say that the request was not carried out, and that the same request may succeed later. */
const RELEASED: ReadonlySet<number> = new Set([401, 403, 408, 425, 429])
/** The outcome of a request that got this is not known, see `http/errors/outages.ts`. */
const UNAVAILABLE = 503

/**
 * Carries out a write with an `Idempotency-Key` once. The same request with the same key gets the kept response, with
 * `Idempotency-Replayed: true`; a 409 while the first one is in progress, or if its result isn't known; another request
 * with the key gets a 422, a malformed key a 400. Keys belong to a user, a method and a URL: it runs after all other guards
 * of the route, wherever it is put. Throws a `TypeError` naming the option if an option makes no sense.
 *
 * ```ts
 * app.mount('/cities', createRouter({ model: City, middlewares: [idempotency({ ttlSeconds: 86_400 })] }))
 * ```
 */
export function idempotency(options: IdempotencyOptions): Guard {
  const fail: Fail = failAs('idempotency')
  checkOptions(options ?? {}, RULES, fail)
  const { ttlSeconds, cache, required = false } = options ?? {}
  if (ttlSeconds === undefined) fail(`'ttlSeconds' is required`)
  const claimsOf = perApp((host) =>
    cache ? cacheClaims(cache, ttlSeconds) : storeClaims(host, ttlSeconds),
  )
  const guard: Guard = async (request, context) => {
    const key = READS.has(request.method) ? undefined : keyOf(request, required)
    if (key === undefined || seen.has(request)) return undefined
    seen.add(request)
    const own = {
      claims: claimsOf(context),
      id: placeOf(request, key),
      fingerprint: await fingerprintOf(request),
    }
    const { isRecords } = passedOf(request)
    const claim = await own.claims.claim(own.id, own.fingerprint, isRecords)
    if (claim.state !== 'won') return repeated(request, context, own, claim)
    const { owner, receipt } = claim
    noteKey(request, receipt ? { receipt } : {})
    running.set(owner, performance.now())
    context.onResponse(async (response, isLate) => {
      // The outcome is not known yet.
      if (isLate) return undefined
      return settle(response, { ...own, owner }, request, context).finally(() =>
        running.delete(owner),
      )
    })
    context.waitUntil(own.claims.sweep())
    return undefined
  }
  Object.assign(guard, { late: true })
  const refusals = [...(required ? [keyRequired()] : []), malformedKey(), keyInUse(), keyReused()]
  return describeGuard(guard, 'anyone', { refusals })
}

/** Requests with a claim: the app and a router may both have a guard, and a route may leave a request to the next one. */
const seen = new WeakSet<ApiRequest>()

/** Who carries out a request in this process, and since when: one that Workers have ended never says so. */
const running = new Map<string, number>()

/** Keeps the response of a request that was carried out, or gives its claim back. */
async function settle(
  response: Response,
  own: Own,
  request: ApiRequest,
  context: Context,
): Promise<Response | undefined> {
  const { status } = response
  const isFailure = status >= 400
  if (isFailure && (request as Keyed)[KEYED]?.receipt) {
    if (await isReleased(own, context)) return undefined
  } else {
    const isNothing = isFailure && passedOf(request).isRecords && hasWrittenNothing(request, status)
    if (isNothing || RELEASED.has(status)) return void (await isReleased(own, context))
  }
  return isUnknown(response, context) ? undefined : keep(response, own, context)
}

/** Gives the kept response again; lets a request pass whose record is written, so that its route responds with the record. */
function repeated(
  request: ApiRequest,
  context: Context,
  own: Omit<Own, 'owner'>,
  claim: Exclude<Claim, { state: 'won' }>,
): Response | undefined {
  if ((claim.fingerprint ?? own.fingerprint) !== own.fingerprint) throw keyReused()
  if (claim.state === 'running') throw keyInUse()
  if (claim.state === 'done') {
    const again = responseOf(claim.response)
    again.headers.set('Idempotency-Replayed', 'true')
    return again
  }
  const { owner, ids } = claim
  const since = running.get(owner)
  if (since !== undefined && performance.now() - since < LEFT_AFTER_MS) throw keyInUse()
  running.delete(owner)
  noteKey(request, { written: ids })
  context.headers.set('Idempotency-Replayed', 'true')
  context.onResponse((response, isLate) =>
    isLate || response.status >= 400 ? undefined : keep(response, { ...own, owner }, context),
  )
  return undefined
}

/**
 * Whether the key stays claimed without a response for later requests. After a 503 nobody knows what has been written;
 * and what no cache may store, such as the tokens of a sign-in, is not stored here either.
 */
function isUnknown(response: Response, context: Context): boolean {
  const { status } = response
  const isSecret = [response, context].some(({ headers }) =>
    /\bno-store\b/i.test(headers.get('cache-control') ?? ''),
  )
  return status === UNAVAILABLE || (isSecret && !RELEASED.has(status))
}

/** A claim that this request has won. */
interface Own {
  readonly claims: Claims
  readonly id: string
  readonly owner: string
  readonly fingerprint: string
}

async function isReleased({ claims, id, owner }: Own, { logger }: Context): Promise<boolean> {
  try {
    return await claims.release(id, owner)
  } catch (error) {
    logger.error('idempotency: a key could not be freed', { error: causeOf(error) })
    return true
  }
}

/** Keeps a response before it is sent: once a client has seen it, every repetition gets the same. */
async function keep(response: Response, own: Own, { logger }: Context): Promise<Response> {
  const { claims, id, owner, fingerprint } = own
  const { status } = response
  const headers = [...response.headers]
  const bytes = new Uint8Array(await response.arrayBuffer())
  const same = { status, headers, body: base64url(bytes) }
  try {
    await claims.keep(id, owner, fingerprint, same)
  } catch (error) {
    // The client gets the response all the same. If it repeats the request, it gets a 409.
    logger.error('idempotency: a response could not be kept', { error: causeOf(error) })
  }
  return responseOf(same)
}

function responseOf({ status, headers, body }: KeptResponse): Response {
  const init = { status, headers: headers.map(([name, value]): [string, string] => [name, value]) }
  return new Response(body === '' ? null : (bytesIn(body) ?? null), init)
}

/** A string of RFC 9651, which the draft asks for. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/
/** The same without quotes, which most clients send. */
const BARE = /^[\w.~:+/=-]+$/
const MAX_LENGTH = 255

/** The key that a request carries; undefined if it has none. Throws a 400 if it is malformed, or required. */
function keyOf({ headers }: ApiRequest, required: boolean): string | undefined {
  const header = headers.get('idempotency-key')
  if (header === null && required) throw keyRequired()
  if (header === null) return undefined
  const quoted = QUOTED.exec(header)?.[1]?.replace(/\\(.)/g, '$1')
  const key = quoted ?? (BARE.test(header) ? header : undefined)
  if (key === undefined || key.length > MAX_LENGTH) throw malformedKey()
  return key
}

/** What the way of a request adds or changes: no identity, and another one each time. */
const IN_TRANSIT =
  /^(?:accept(?:-.*)?|baggage|cf-.*|(?:(?:true|x)-)?client-ip|connection|content-.*|date|expect|fly-.*|forwarded|host|idempotency-key|keep-alive|priority|sec-.*|sentry-trace|te|trace.*|transfer-encoding|user-agent|via|x-amz-cf-id|x-amzn-trace-id|x-arr-log-id|x-azure-ref|x-b3-.*|x-cloud-trace-context|x-forwarded-(?:by|for|host|path|port|prefix|proto|protocol|scheme|server|ssl|uri)|x-kong-request-id|x-real-ip|x-request-id|x-request-start|x-varnish|x-vercel-id)$/

/**
 * Who makes a request: what the guards have found, that is `request.auth`. If they have left nothing there, any header
 * that the client sent may be what a guard or a scope looks at.
 */
function callersOf(request: ApiRequest): unknown {
  const found = [...new Set(passedOf(request).requests.map((one) => new Author(() => one).by))]
  if (found.some((by) => by !== null)) return found
  // Cloudflare Access names a user.
  return [...request.headers].filter(
    ([name]) => name.startsWith('cf-access-') || !IN_TRANSIT.test(name),
  )
}

/** A digest of whose key it is, and for what: the user, the method and the URL. 24 hexadecimal digits, as an id. */
function placeOf(request: ApiRequest, key: string): string {
  const { method, url } = request
  const who = callersOf(request)
  const path = pathOf(url)
  const query = url.slice(url.indexOf(path) + path.length)
  return ownId(JSON.stringify([who, method, path, query, key]))
}

/** Claims that each token of the same user may have anew. */
const OF_A_TOKEN =
  /^(?:sub|role|iat|exp|nbf|jti|pca|sid|mfa|amr|acr|auth_time|nonce|session_state|(?:at|c|s)_hash|aio|rh|uti)$/

/** Claims that are the same in all tokens of an app's own accounts, which have `pca`. */
const SAME_FOR_ALL = /^(?:iss|aud)$/

/** What a user may do: with another role or other claims, such as a tenant, they may see or write something else. */
function rightsOf({ auth }: ApiRequest): unknown {
  const all = auth?.claims ?? {}
  const isLeftOut = (name: string) =>
    OF_A_TOKEN.test(name) || ('pca' in all && SAME_FOR_ALL.test(name))
  const claims = Object.entries(all).filter(([name]) => !isLeftOut(name))
  const role = auth?.role ?? null
  // Of most users, versions before keep the same text: a repeat may reach another version.
  return claims.length === 0 ? role : [role, claims.sort(([a], [b]) => (a < b ? -1 : 1))]
}

/**
 * A digest of the body and of the user's rights, which must be the same when a request is repeated. Of a form with files only its media type
 * counts: it is not read into memory, and each time it is sent with other boundaries. Throws as reading a body does.
 */
async function fingerprintOf(request: ApiRequest): Promise<string> {
  const [type = ''] = (request.headers.get('content-type') ?? '').toLowerCase().split(';')
  const isForm = type.trim() === 'multipart/form-data'
  const { requests, body: given } = passedOf(request)
  const whole = async () => given?.() ?? new Uint8Array(await request.clone().arrayBuffer())
  const body = isForm ? '' : await whole()
  const rights = JSON.stringify(requests.map(rightsOf))
  return `${type.trim()} ${hexDigestOf(body)} ${hexDigestOf(rights)}`
}
