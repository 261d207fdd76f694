/** The options of `createApp`, checked. */

import type { ErrorHandler } from '../http/response/error-handler.ts'
import * as rule from '../model/option-rules.ts'
import { checkOptions, type Fail, failAs, type Rule } from '../model/option-rules.ts'
import type { CacheStore } from '../ports/services/cache.ts'
import type { FileStore } from '../ports/services/files.ts'
import type { Hasher } from '../ports/services/hasher.ts'
import type { ImageOptimizer } from '../ports/services/images.ts'
import { jsonLogger, type Logger, ownedLogger } from '../ports/services/logger.ts'
import type { Observer } from '../ports/services/observer.ts'
import type { Store } from '../ports/store/store.ts'

/** Options of `createApp`. */
export interface AppOptions {
  /** Where records live. */
  readonly store: Store
  /** Where responses are cached, for routers with `cache`. */
  readonly cache?: CacheStore
  /** Where uploaded files live. */
  readonly files?: FileStore
  /** Makes uploaded images smaller. */
  readonly images?: ImageOptimizer
  /** Where the app logs to. Default: to the console, one JSON object per line. */
  readonly logger?: Logger
  /** The key of pagination cursors; at least 32 characters. Without it, cursors are not protected against forgery. */
  readonly secret?: string
  /** Environment variables or bindings. Default: `process.env`, if there is one. */
  readonly env?: Readonly<Record<string, unknown>>
  /**
   * The path that everything is served below, such as `/api`: routes, files, probes and the OpenAPI document. Paths that
   * you write in the app are without it, paths in responses with it. Default: none.
   */
  readonly basePath?: string
  /**
   * Whether a POST with the header `X-HTTP-Method-Override: QUERY` is a QUERY, on routers that do not say. Default false.
   */
  readonly methodOverride?: boolean
  /** The most bytes of a JSON body; a larger one is a 413. Default 1 MiB. */
  readonly maxBodySize?: number
  /**
   * The most values in a JSON body, at any depth: strings, numbers, booleans, nulls, lists and objects, and the name of
   * each member. One with more is a 413. Default 20,000.
   */
  readonly maxBodyValues?: number
  /** Milliseconds within which a body has to arrive, plus 1,000 for each 64 KiB of it. Default 25,000. */
  readonly bodyTimeoutMs?: number
  /** The most distinct records that `populate` fills in per response; further references stay ids. Default 1,000. */
  readonly maxPopulated?: number
  /** The most bytes in the response to a read; a larger one becomes a 413. Default 32 MiB. */
  readonly maxResponseBytes?: number
  /**
   * The time limit of a request in milliseconds, from its arrival or from the end of its body; then it gets a 503. At
   * that moment `request.signal` aborts, and later writes of a hook through `context.store` are refused. A response
   * that has begun may take longer. Default 60,000; 0 for no limit.
   */
  readonly requestTimeoutMs?: number
  /**
   * The most requests that may be waiting for a response; further ones get a 503 at once. Default 1,000; 0 for any
   * number.
   */
  readonly maxInFlight?: number
  /** The most live lists that may be open in one process; further ones get a 503. Default 1,000. */
  readonly maxStreams?: number
  /** Whether each request is logged, at `info`: method, path without query, status, milliseconds and ids. Default false. */
  readonly accessLog?: boolean
  /** Store calls that take this many milliseconds or longer are logged, at `warn`. Default: off. */
  readonly slowMs?: number
  /** Creates traces: `telemetry()` of `fieldgate/telemetry`. */
  readonly telemetry?: Observer
  /** Whether error responses include the stack. Default false. */
  readonly development?: boolean
  /** Responds to failures. Default: `errorHandler({ development })`. */
  readonly onError?: ErrorHandler
  /** The clock, in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => number
  /**
   * What happens at start-up if a model has changed since its records were stored: `'warn'` logs which fields, and the
   * commands that help; `'refuse'` checks the model's records and fails if some do not fit. Default `'warn'`.
   */
  readonly onModelChange?: 'warn' | 'refuse'
  /** Hashes passwords. Default: scrypt, native if the runtime has it. */
  readonly hasher?: Hasher
}

const MIN_SECRET_LENGTH = 32
const MAX_TIMER_MS = 2 ** 31 - 1

const LIMITS = {
  maxBodySize: 1_048_576,
  maxBodyValues: 20_000,
  bodyTimeoutMs: 25_000,
  requestTimeoutMs: 60_000,
  maxInFlight: 1000,
  maxStreams: 1000,
  maxPopulated: 1000,
  maxResponseBytes: 33_554_432,
}

type LimitName = keyof typeof LIMITS

export type ResolvedAppOptions = AppOptions &
  Required<
    Pick<
      AppOptions,
      LimitName | 'logger' | 'env' | 'development' | 'now' | 'basePath' | 'methodOverride'
    >
  >

const RULES: Readonly<Record<keyof AppOptions, Rule>> = {
  ...rule.each(rule.whatever, 'store', 'cache', 'files', 'images', 'env', 'hasher'),
  // Those with other rules follow.
  ...rule.each(rule.natural, 'slowMs', ...(Object.keys(LIMITS) as LimitName[])),
  ...rule.each(rule.flag, 'methodOverride', 'accessLog', 'development'),
  ...rule.each(rule.callable, 'onError', 'now'),
  logger: {
    must: 'have the functions debug, info, warn and error',
    test: (value) =>
      ['debug', 'info', 'warn', 'error'].every(
        (level) => typeof Object(value)[level] === 'function',
      ),
  },
  secret: {
    must: `have at least ${MIN_SECRET_LENGTH} characters`,
    test: (value) => typeof value === 'string' && value.length >= MIN_SECRET_LENGTH,
  },
  basePath: { must: "be a path such as '/api'", test: (value) => basePathIn(value) !== undefined },
  bodyTimeoutMs: rule.wholeNumber(`be a whole number from 1 to ${MAX_TIMER_MS}`, 1, MAX_TIMER_MS),
  requestTimeoutMs: rule.wholeNumber(
    `be a whole number from 0 to ${MAX_TIMER_MS}`,
    0,
    MAX_TIMER_MS,
  ),
  maxInFlight: rule.wholeNumber('be a whole number, 0 for no limit'),
  telemetry: {
    must: 'be telemetry() of fieldgate/telemetry',
    test: (value) => typeof (value as Partial<Observer> | null)?.request === 'function',
  },
  onModelChange: rule.oneOf('warn', 'refuse'),
}

/** Checks the options; throws a `TypeError` naming the one that makes no sense. */
export function resolveAppOptions(options: AppOptions): ResolvedAppOptions {
  const fail: Fail = failAs('createApp')
  checkOptions(options ?? {}, RULES, fail)
  if (typeof options?.store?.collection !== 'function') {
    fail(`'store' is required, e.g. createApp({ store: sqliteStore() })`)
  }
  const { logger = jsonLogger, development = false, now = Date.now, ...given } = options
  const { methodOverride = false } = options
  const limits = Object.entries(LIMITS).map(([name, limit]) => {
    return [name, options[name as LimitName] ?? limit]
  })
  const { process } = globalThis as { process?: { env?: unknown } }
  const env = options.env ?? environment(process?.env) ?? {}
  const basePath = basePathIn(options.basePath) ?? ''
  const resolved = { logger: ownedLogger(logger), env, development, now, basePath, methodOverride }
  return { ...given, ...(Object.fromEntries(limits) as typeof LIMITS), ...resolved }
}

/** A base path without the slash at its end; undefined if `value` is not one. */
function basePathIn(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^(?:\/[\w\-.~]+)*\/?$/.test(value)) return undefined
  if (value.split('/').some((part) => part === '.' || part === '..')) return undefined
  return value.replace(/\/$/, '')
}

/** `value` as variables or bindings, if it is an object. */
export function environment(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)
    : undefined
}
