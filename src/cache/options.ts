/** The `cache` option of a router and its environment variables: names, defaults and start-up errors. */

import type { ApiRequest } from '../http/request/request.ts'
import * as rule from '../model/option-rules.ts'
import { booleanFrom, checkOptions, type Fail, type Rule } from '../model/option-rules.ts'
import type { MaybePromise } from '../ports/promises/maybe-promise.ts'
import type { CacheStore } from '../ports/services/cache.ts'
import type { Logger } from '../ports/services/logger.ts'

/**
 * Returns a value that tells apart requests which may not share responses. If it returns anything but a string, a
 * boolean or a finite number, the response is not cached.
 */
export type Vary = (
  request: ApiRequest,
) => MaybePromise<string | number | boolean | null | undefined>

type SetWithExpiry = (key: string, seconds: number, value: string) => Promise<unknown>

/** The methods used of a Redis client: `setEx` of `redis`, `setex` of `ioredis` and `@upstash/redis`. */
export interface RedisClient {
  get(key: string): Promise<unknown>
  readonly setEx?: SetWithExpiry
  readonly setex?: SetWithExpiry
}

/** The `cache` option of a router. */
export interface CacheOptions {
  /** How long a response is kept, in seconds. Default: the variable `CACHE_TTL`, or 60. */
  readonly ttl?: number
  /** The prefix of every key. Default: the variable `CACHE_PREFIX`, or `'cs:'`. */
  readonly prefix?: string
  /** How long a read waits for the cache, in milliseconds, before it goes to the database. Default 150. */
  readonly timeoutMs?: number
  /** Where responses are kept. Default: the `cache` of `createApp`. */
  readonly store?: CacheStore
  /** A connected client of `redis`, `ioredis` or `@upstash/redis`, instead of `store`. */
  readonly client?: RedisClient
  /** Not supported: a start-up error shows the line to write instead, because only adapters open connections. */
  readonly url?: string
  /** Which requests may share a response. Default: those with the same user id and role. */
  readonly vary?: Vary
  /** Tells apart databases that share a cache and a prefix. Default `''`. */
  readonly namespace?: string
}

export interface CacheSettings extends Required<Omit<CacheOptions, 'client' | 'url' | 'vary'>> {
  readonly vary: Vary | undefined
}

export interface CacheSurroundings {
  readonly cache: CacheStore | undefined
  readonly env: Readonly<Record<string, unknown>>
  readonly logger: Logger
}

const RULES: Readonly<Record<keyof CacheOptions, Rule>> = {
  ttl: { ...rule.natural, must: 'be a whole number of seconds, at least 1' },
  prefix: rule.text,
  timeoutMs: { ...rule.natural, must: 'be a whole number of milliseconds, at least 1' },
  store: rule.whatever,
  client: rule.whatever,
  url: rule.whatever,
  vary: rule.callable,
  namespace: rule.text,
}

/** A router's cache settings; undefined for none. `CACHE_ENABLED` turns it on without the option, or off for all. */
export function resolveCache(
  option: boolean | CacheOptions | undefined,
  app: CacheSurroundings,
  fail: Fail,
): CacheSettings | undefined {
  const options = typeof option === 'object' ? option : {}
  if (option === null || !['undefined', 'boolean', 'object'].includes(typeof option)) {
    fail(`'cache' must be true, false or an object`)
  }
  checkOptions(options, RULES, fail, 'cache.')
  checkStores(options, fail)
  const flag = textIn(app.env, 'CACHE_ENABLED')
  const enabled = flag && (booleanFrom(flag) ?? fail('CACHE_ENABLED must be true or false'))
  if (enabled === false || !(option ?? enabled)) return undefined
  return {
    ...defaultsOf(app.env, fail),
    ...defined(options),
    store: storeOf(options, app, fail),
    vary: options.vary,
  }
}

/** The settings that environment variables give, for the whole app. */
export function defaultsOf(
  env: CacheSurroundings['env'],
  fail: Fail,
): Pick<CacheSettings, 'ttl' | 'prefix' | 'namespace' | 'timeoutMs'> {
  const ttl = textIn(env, 'CACHE_TTL')
  if (ttl !== undefined && !rule.natural.test(Number(ttl))) {
    fail(`CACHE_TTL must be a whole number of seconds, at least 1`)
  }
  return {
    ttl: Number(ttl ?? 60),
    prefix: textIn(env, 'CACHE_PREFIX') ?? 'cs:',
    namespace: '',
    timeoutMs: 150,
  }
}

function checkStores({ store, client, url }: CacheOptions, fail: Fail): void {
  if ([store, client, url].filter((given) => given !== undefined).length > 1) {
    fail(`'cache' takes only one of 'store', 'client' and 'url'`)
  }
  if (url !== undefined) fail(`'cache.url' opens no connection. ${lineFor(String(url), 'url')}`)
}

function storeOf(options: CacheOptions, app: CacheSurroundings, fail: Fail): CacheStore {
  const { store, client } = options
  if (client !== undefined) {
    return storeOfClient(client, app.logger) ?? fail(`'cache.client' must be a Redis client`)
  }
  const found = store ?? app.cache ?? fail(missingStore(app.env))
  if (typeof found?.get !== 'function' || typeof found.set !== 'function') {
    fail(`'cache.store' must have the functions get and set`)
  }
  return found
}

/** Routers with the same client share one store, so that a write tells it once. */
const stores = new WeakMap<RedisClient, CacheStore>()

/** A store that uses `client`; undefined if it is not such a client. You close the client yourself. */
function storeOfClient(client: RedisClient, logger: Logger): CacheStore | undefined {
  const setting = (['setEx', 'setex'] as const).find((name) => typeof client?.[name] === 'function')
  if (typeof client?.get !== 'function' || !setting) return undefined
  const known = stores.get(client)
  if (known) return known
  const once = sendingOnce(client)
  if (once) {
    logger.warn(
      `'cache.client' sends commands again that got no reply. After a lost connection, reads may show what was before a write. Write new Redis({ ${once} })`,
    )
  }
  const store: CacheStore = {
    async get(key) {
      const value = await client.get(key)
      return typeof value === 'string' ? value : undefined
    },
    // Called as methods of the client, which they are.
    set: async (key, value, ttlSeconds) => client[setting]?.(key, ttlSeconds, value),
  }
  stores.set(client, store)
  return store
}

/** Where `ioredis` and `@upstash/redis` have their settings. */
interface Resending extends RedisClient {
  readonly options?: { readonly autoResendUnfulfilledCommands?: boolean }
  readonly client?: { readonly retry?: { readonly attempts?: number } }
}

/** The option with which `client` sends nothing twice, if it lacks it: a version that a later write replaced would be back. */
function sendingOnce({ options, client }: Resending): string | undefined {
  if (options?.autoResendUnfulfilledCommands) return 'autoResendUnfulfilledCommands: false'
  return client?.retry?.attempts ? 'retry: { retries: 0 }' : undefined
}

/** The core opens no connections, so the cache named in the environment still takes one line of code. */
function missingStore(env: CacheSurroundings['env']): string {
  const found = ['REDIS_URL', 'UPSTASH_REDIS_REST_URL'].find((name) => textIn(env, name))
  if (!found) {
    return `'cache' has no store. Write createApp({ cache: memoryCache() }), with memoryCache from 'fieldgate/memory'.`
  }
  return `'cache' has no store, though ${found} is set. ${lineFor(String(env[found]), `env.${found}`)}`
}

/** The value is not repeated: it may contain a password. */
function lineFor(url: string, name: string): string {
  return /^https?:/.test(url)
    ? `Write createApp({ cache: upstashCache({ url: ${name}, token: env.UPSTASH_REDIS_REST_TOKEN }) }), with upstashCache from 'fieldgate/upstash'.`
    : `Write createApp({ cache: redisCache({ url: ${name} }) }), with redisCache from 'fieldgate/redis'.`
}

/** An empty variable counts as not set. */
function textIn(env: CacheSurroundings['env'], name: string): string | undefined {
  const value = env[name]
  return value === undefined || value === null || value === '' ? undefined : String(value)
}

function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as Partial<T>
}
