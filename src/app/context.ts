/** What belongs to one request: the context for guards, and the headers that they set for the response. */

import { Deadline } from '../http/deadline.ts'
import { type AuthOrNobody, takeAuth } from '../http/given-auth.ts'
import type { ApiRequest } from '../http/request.ts'
import { loggerFor } from '../http/request-ids.ts'
import type { Logger } from '../ports/logger.ts'
import type { Host } from '../records/engine/host.ts'
import type { RecordStore } from '../records/engine/record-store.ts'
import type { Context, ResponseHook } from '../records/engine/route.ts'
import { environment } from './options.ts'

/** A platform's handle on a request: Workers pass it as the third argument. */
export interface Platform {
  /** The client's address, if the runtime knows it. */
  readonly clientAddress?: string | undefined
  /** The path under which another server mounts the app, such as `/api`; it has no slash at its end. Default: none. */
  readonly basePath?: string
  /** If true, the request is refused with a 503, because its server has more requests than it can respond to in time. */
  readonly isRefused?: boolean
  /**
   * Finds out who makes the request; what it returns is `request.auth` before the first guard. Called once, unless the
   * request is for a health route. If it throws, the request fails and no guard runs.
   */
  readonly auth?: (() => AuthOrNobody | Promise<AuthOrNobody>) | undefined
  waitUntil?(promise: Promise<unknown>): void
}

/** The context of one request. */
export class AppContext extends Deadline implements Context {
  /** Whether a read of a model route responds: see `complete`. */
  isRead = false
  /** Whether the response is there. */
  isAnswered = false
  readonly platform: Platform | undefined
  readonly basePath: string
  /** The headers that guards have set. Created on first use: most requests set none. */
  ownHeaders: Headers | undefined
  /** What guards do with the response, the last one first. */
  hooks: ResponseHook[] | undefined
  readonly #host: Host
  readonly #env: unknown
  readonly #request: ApiRequest
  #store: RecordStore | undefined

  /** `limitMs` is the time limit of the request in milliseconds; 0 for none. */
  constructor(
    host: Host,
    request: ApiRequest,
    limitMs: number,
    env: unknown,
    platform: Platform | undefined,
  ) {
    super(request, limitMs)
    this.#host = host
    this.#env = env
    this.#request = request
    this.platform = platform
    // For `(request, { waitUntil }) => …`.
    this.onResponse = this.onResponse.bind(this)
    this.waitUntil = this.waitUntil.bind(this)
    const mount = platform?.basePath ?? ''
    this.basePath = host.basePath === '' ? mount : mount.replace(/\/$/, '') + host.basePath
  }

  get env(): Readonly<Record<string, unknown>> {
    return environment(this.#env) ?? this.#host.env
  }

  /** The app's logger, which adds the request's trace to each line. */
  get logger(): Logger {
    return loggerFor(this.#request, this.#host.logger)
  }

  get clientAddress(): string | undefined {
    return this.platform?.clientAddress
  }

  get store(): RecordStore {
    this.#store ??= this.#host.storeFor(this.#request)
    return this.#store
  }

  /** Sets `request.auth` to what the server that mounts the app has found out. */
  async takeAuth(): Promise<void> {
    const { auth } = this.platform ?? {}
    if (typeof auth === 'function') await takeAuth(this.#request, auth)
  }

  get headers(): Headers {
    this.ownHeaders ??= new Headers()
    return this.ownHeaders
  }

  onResponse(hook: ResponseHook): void {
    this.hooks ??= []
    this.hooks.unshift(hook)
  }

  waitUntil(promise: Promise<unknown>): void {
    keepAlive(promise, this.logger, this.platform)
  }
}

/** Keeps the runtime alive until `promise` settles, if the platform can. */
export function keepAlive(promise: Promise<unknown>, logger: Logger, platform?: Platform): void {
  const settled = Promise.resolve(promise).catch((error: unknown) =>
    logger.error('background work failed', { error: String(error) }),
  )
  if (typeof platform?.waitUntil === 'function') platform.waitUntil(settled)
}
