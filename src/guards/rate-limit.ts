import { hexDigestOf } from '#hmac'
import { countOfAll } from '#processes'
import { networkOf } from '../auth/request-info.ts'
import { Availability, unreachable, warner } from '../cache/availability.ts'
import type { ApiRequest } from '../http/request/request.ts'
import * as rule from '../model/option-rules.ts'
import { checkOptions, type Fail, failAs, type Rule } from '../model/option-rules.ts'
import type { CacheStore } from '../ports/services/cache.ts'
import { describeGuard } from '../records/engine/guards.ts'
import { type Host, perApp } from '../records/engine/host.ts'
import type { Context, Guard } from '../records/engine/route.ts'
import { tooManyRequests } from './refusals.ts'

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /** The most requests of one client in a window. */
  readonly limit: number
  /** The length of a window in seconds. Windows begin at multiples of it. */
  readonly windowSeconds: number
  /**
   * Returns whom a request counts for; undefined if it isn't limited. Default: `context.clientAddress`, of IPv6 the first
   * 64 bits. Requests without an address count together.
   */
  readonly key?: (
    request: ApiRequest,
    context: Context,
  ) => string | undefined | Promise<string | undefined>
  /** Where requests are counted. Default: the app's cache if instances share it, otherwise this process. */
  readonly cache?: CacheStore
  /** How long a request waits for the cache, in milliseconds, before this process counts it. Default 150. */
  readonly timeoutMs?: number
  /** The name of the policy, in the header fields and in the cache. Default `default`. */
  readonly name?: string
}

const TIMEOUT_MS = 150

const RULES: Readonly<Record<keyof RateLimitOptions, Rule>> = {
  limit: rule.natural,
  windowSeconds: rule.natural,
  key: rule.callable,
  cache: rule.counting,
  timeoutMs: rule.natural,
  name: rule.matching('have only letters, digits and -._', /^[\w.-]{1,64}$/),
}

/**
 * Refuses a client's further requests with a 429 once it has sent `limit` in the window. Every response has the header
 * fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11). While the cache can't be reached,
 * each process counts for itself. Throws a `TypeError` naming the option if an option makes no sense.
 *
 * ```ts
 * app.use(rateLimit({ limit: 100, windowSeconds: 60 }))
 * ```
 */
export function rateLimit(options: RateLimitOptions): Guard {
  const fail: Fail = failAs('rateLimit')
  checkOptions(options ?? {}, RULES, fail)
  const { limit, windowSeconds, cache, name = 'default' } = options ?? {}
  if (limit === undefined || windowSeconds === undefined) {
    fail(`'limit' and 'windowSeconds' are required`)
  }
  const { key = byAddress() } = options
  const policy = `"${name}";q=${limit};w=${windowSeconds}`
  const windowMs = windowSeconds * 1000
  made += 1
  const number = made
  const counterOf = perApp((host) => {
    const store = cache ?? (host.cache?.local ? undefined : host.cache)
    const local = localCounter(number, windowSeconds)
    const count = store?.increment ? sharedCounter(store, local, host, { ...options, name }) : local
    return { count, now: host.now }
  })

  const guard: Guard = async (request, context) => {
    const client = await key(request, context)
    if (client === undefined) return
    const { count, now } = counterOf(context)
    const at = now()
    const window = Math.floor(at / windowMs)
    const used = await count(client.length > MAX_KEY ? hexDigestOf(client) : client, window)
    const seconds = Math.max(1, Math.ceil(((window + 1) * windowMs - at) / 1000))
    context.headers.append('RateLimit-Policy', policy)
    context.headers.append('RateLimit', `"${name}";r=${Math.max(0, limit - used)};t=${seconds}`)
    if (used > limit) throw tooManyRequests(seconds)
  }
  const described = describeGuard(guard, 'anyone', { refusals: [tooManyRequests(1)] })
  return Object.assign(described, { once: true })
}

/** The default key. Without an address nobody can be told apart, and letting everyone pass would be no limit. */
function byAddress(): (request: ApiRequest, context: Context) => string {
  let hasWarned = false
  return (_, { clientAddress, logger }) => {
    if (clientAddress !== undefined) return networkOf(clientAddress)
    if (!hasWarned) {
      logger.warn(
        `rateLimit: the runtime doesn't tell the client's address, so all clients share one limit. Use serve(), call app.handle(request, env, { clientAddress }), or set 'key'.`,
      )
    }
    hasWarned = true
    return 'unknown'
  }
}

/** Adds a request of `client` to its count in the window with this number, and resolves to the count. */
type Counter = (client: string, window: number) => number | Promise<number>

/** A key that is longer than this is stored as its digest: a client may have chosen it. */
const MAX_KEY = 64
/** The most clients that a process counts at the same time. */
const MAX_CLIENTS = 100_000

/** Counts in `store`; with `local` if it can't be reached, or takes too long. */
function sharedCounter(
  store: CacheStore,
  local: Counter,
  host: Host,
  { name, windowSeconds, timeoutMs = TIMEOUT_MS }: RateLimitOptions,
): Counter {
  const warn = warner((problem) => {
    host.logger.warn('rateLimit: the cache cannot be reached; each process counts for itself', {
      error: problem,
    })
  }, host.now)
  const availability = new Availability(warn, store.local)
  return async (client, window) => {
    const key = `rate:${name}:${windowSeconds}:${window}:${client}`
    const add = async () => store.increment?.(key, windowSeconds)
    const count = await availability.ask(add, timeoutMs)
    return count === unreachable || !count ? local(client, window) : count
  }
}

/** How many guards there are. Every process makes the same in the same order, so their numbers tell them apart. */
let made = 0

/** Counts in this process, or in the first of `serve(app, { processes })`. The counts go when the next window begins. */
function localCounter(number: number, windowSeconds: number): Counter {
  const ofAll = countOfAll
  if (ofAll) return (client, window) => ofAll(`${number} ${window} ${client}`, windowSeconds)
  const counts = new Map<string, number>()
  let current = Number.NaN
  return (client, window) => {
    if (window !== current) counts.clear()
    current = window
    const count = (counts.get(client) ?? 0) + 1
    if (count === 1 && counts.size >= MAX_CLIENTS) {
      const [oldest] = counts.keys()
      counts.delete(oldest ?? '')
    }
    counts.set(client, count)
    return count
  }
}
