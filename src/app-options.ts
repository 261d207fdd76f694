/**
 * The options of `createApp`, checked.
 *
 * @module
 */

import type { ErrorHandler } from './http/error-handler.ts'
import type { CacheStore } from './ports/cache.ts'
import type { FileStore } from './ports/files.ts'
import type { Hasher } from './ports/hasher.ts'
import type { ImageOptimizer } from './ports/images.ts'
import { jsonLogger, type Logger } from './ports/logger.ts'
import type { Store } from './ports/store.ts'

/** What `createApp` takes. */
export interface AppOptions {
  /** Where records live. */
  readonly store: Store
  /** Where answers are cached, for routers with `cache`. */
  readonly cache?: CacheStore
  /** Where uploaded files live. */
  readonly files?: FileStore
  /** What makes uploaded images smaller. */
  readonly images?: ImageOptimizer
  /** Default: one JSON object a line to the console. */
  readonly logger?: Logger
  /** At least 32 characters; keys the pagination cursors. */
  readonly secret?: string
  /** Default: `process.env` where there is one. */
  readonly env?: Readonly<Record<string, unknown>>
  /** Bytes that a JSON body may have. Default 1 MiB. */
  readonly maxBodySize?: number
  /** Whether failures carry the stack. Default false. */
  readonly development?: boolean
  /** Answers failures. Default: `errorHandler({ development })`. */
  readonly onError?: ErrorHandler
  /** The clock, in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => number
  /** Hashes passwords. Default: scrypt, native where the runtime has it. */
  readonly hasher?: Hasher
}

/** The options with their defaults. */
export type ResolvedAppOptions = AppOptions &
  Required<Pick<AppOptions, 'logger' | 'env' | 'maxBodySize' | 'development' | 'now'>>

const NAMES = new Set([
  'store',
  'cache',
  'files',
  'images',
  'logger',
  'secret',
  'env',
  'maxBodySize',
  'development',
  'onError',
  'now',
  'hasher',
])

const MIB = 1024 * 1024
const MIN_SECRET = 32

/** Checks the options; a `TypeError` names the one that makes no sense. */
export function resolveAppOptions(options: AppOptions): ResolvedAppOptions {
  const fail = (message: string): never => {
    throw new TypeError(`createApp: ${message}`)
  }
  for (const name of Object.keys(options ?? {})) {
    if (!NAMES.has(name)) fail(`unknown option '${name}'`)
  }
  if (typeof options?.store?.collection !== 'function') {
    fail(`'store' is needed, as in createApp({ store: sqliteStore() })`)
  }
  const { secret, maxBodySize = MIB, development = false, now = Date.now, onError } = options
  if (secret !== undefined && (typeof secret !== 'string' || secret.length < MIN_SECRET)) {
    fail(`'secret' must have at least ${MIN_SECRET} characters`)
  }
  if (!Number.isSafeInteger(maxBodySize) || maxBodySize < 1) {
    fail(`'maxBodySize' must be a whole number of bytes, at least 1`)
  }
  if (typeof development !== 'boolean') fail(`'development' must be true or false`)
  if (typeof now !== 'function') fail(`'now' must be a function`)
  if (onError !== undefined && typeof onError !== 'function') fail(`'onError' must be a function`)
  const env =
    options.env ?? environment((globalThis as { process?: { env?: unknown } }).process?.env)
  return {
    ...options,
    logger: options.logger ?? jsonLogger,
    env: env ?? {},
    maxBodySize,
    development,
    now,
  }
}

/** A record of variables or bindings, if `value` is one. */
export function environment(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)
    : undefined
}
