/** The time limit of a request: when it is over, the client gets a response, and nothing may be written for it. */

import type { ReadHints } from '../ports/store/records.ts'
import { CLIENT_GONE, unavailable } from './errors/outages.ts'
import { notAResponse } from './request/not-a-response.ts'
import { ofPlatform } from './request/of-platform.ts'
import { runShielded } from './request/shield.ts'

const DEADLINE: unique symbol = Symbol('deadline')

interface Timed extends Request {
  [DEADLINE]?: Deadline
}

/** After so long, in milliseconds, a read is worth ending whose client has gone; to ask for that costs more than short ones do. */
const LONG_MS = 200
/** Requests that write go on. */
const READS: readonly unknown[] = ['GET', 'HEAD', 'QUERY']

/**
 * The time limit of one request. It does not count while the body arrives, which has limits of its own.
 *
 * Guards get it as their context, so no method has a name of Express's request or response, such as `end`.
 */
export class Deadline {
  static {
    notAResponse(Deadline.prototype)
  }

  #request: Request | undefined
  readonly #ms: number
  #over: ((reason: Error) => void) | undefined
  #isPaused = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #waiting: Set<() => void> | undefined
  #controller: AbortController | undefined
  #signal: AbortSignal | undefined
  /** Why the time is over; undefined while it is not. */
  #reason: Error | undefined

  /** Gives `request` a limit of `ms` milliseconds, which count from `start` on; 0 for no limit. */
  constructor(request: Request, ms: number) {
    this.#request = request
    this.#ms = ms
    if (ms === 0) return
    ;(request as Timed)[DEADLINE] = this
    Object.defineProperty(request, 'signal', SIGNAL)
  }

  /** Starts the clock. When the time is over, calls `over`, and `signal` aborts. */
  start(over: (reason: Error) => void): void {
    if (this.#ms === 0) return
    this.#over = over
    if (!this.#isPaused) this.release()
  }

  /** Aborts when the time is over, or in a long read when the client goes away. Created on first use: writes need none. */
  get own(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reason) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Aborts when the time is over, or when the client goes away, if the runtime reports that. */
  get signal(): AbortSignal {
    if (this.#signal) return this.#signal
    const { own } = this
    const platforms = this.#platforms()
    this.#signal = platforms ? AbortSignal.any([own, platforms]) : own
    return this.#signal
  }

  #platforms(): AbortSignal | undefined {
    const request = this.#request
    return request && ofPlatform(request, 'signal')
  }

  /** Throws a 503 if the time is over. */
  check(): void {
    if (this.#reason) throw unavailable(this.#reason)
  }

  /** The result of `work`; rejects with a 503 if the time is over first. */
  async within<T>(work: () => T | Promise<T>): Promise<T> {
    this.check()
    const { promise: over, reject } = Promise.withResolvers<never>()
    const giveUp = () => reject(unavailable(this.#reason))
    this.#waiting ??= new Set()
    this.#waiting.add(giveUp)
    try {
      return await Promise.race([work(), over])
    } finally {
      this.#waiting.delete(giveUp)
    }
  }

  /** Stops the clock while the body arrives. */
  hold(): void {
    this.#isPaused = true
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Restarts the clock with the full time; does nothing if the request has ended. */
  release(): void {
    this.#isPaused = false
    if (this.#timer !== undefined || !this.#over) return
    const isLong = this.#ms > LONG_MS
    this.#timer = isLong ? setTimeout(follow, LONG_MS, this) : setTimeout(expire, this.#ms, this)
  }

  /** From now on, what the request reads ends if its client goes away. */
  follow(): void {
    this.#timer = setTimeout(expire, this.#ms - LONG_MS, this)
    const platforms = READS.includes(this.#request?.method) ? this.#platforms() : undefined
    const leave = () => {
      this.#controller ??= new AbortController()
      this.#controller.abort(CLIENT_GONE)
    }
    if (platforms?.aborted) leave()
    else platforms?.addEventListener('abort', leave, { once: true })
  }

  expire(): void {
    this.#reason = new Error(`the request took longer than ${this.#ms} ms`)
    reasons.add(this.#reason)
    this.#controller?.abort(this.#reason)
    for (const giveUp of this.#waiting ?? []) giveUp()
    this.#over?.(this.#reason)
  }

  /** Marks the end of the code that serves the request: `'in time'`, or `'over'` if the client already got a response. */
  conclude(): 'in time' | 'over' {
    this.hold()
    this.#request = undefined
    this.#over = undefined
    return this.#reason ? 'over' : 'in time'
  }
}

/** Why times were over: a part of a request has a time of its own, and a signal that ends with that of the whole too. */
const reasons = new WeakSet<object>([CLIENT_GONE])

/** `error`, or a 503 for a call that has ended with the reason why a time is over. */
export function failureOf(error: unknown): unknown {
  return reasons.has(error as object) ? unavailable(error) : error
}

function expire(deadline: Deadline): void {
  deadline.expire()
}

function follow(deadline: Deadline): void {
  deadline.follow()
}

/** One descriptor for all requests: with one per request, V8 would give each its own hidden class. */
const SIGNAL: PropertyDescriptor = {
  configurable: true,
  get(this: Timed) {
    return this[DEADLINE]?.signal
  },
}

export function deadlineOf(request: Timed): Deadline | undefined {
  return request[DEADLINE]
}

/** `hints` for a read of `request`, limited to the time that it has left, and to that of its client if it is long. */
export function hintsFor(hints: ReadHints, request: Request): ReadHints {
  const deadline = (request as Timed)[DEADLINE]
  return deadline ? { ...hints, signal: deadline.own } : hints
}

/** Gives `request`, a part of `whole`, the time limit of `whole`. */
export function shareDeadline(whole: Request, request: Request): void {
  const deadline = deadlineOf(whole)
  if (!deadline) return
  ;(request as Timed)[DEADLINE] = deadline
  Object.defineProperty(request, 'signal', SIGNAL)
}

/** The result of a hook; rejects with a 503 if the time of `request` is over first: a hook may hang. */
export async function inTime<T>(request: Request, hook: () => T | Promise<T>): Promise<T> {
  const deadline = deadlineOf(request)
  const work = () => runShielded(request, hook)
  return deadline ? deadline.within(work) : work()
}

/** Throws a 503 if the time of `request` is over: its client already got a response, so nothing may be written for it. */
export function checkTime(request: Timed): void {
  request[DEADLINE]?.check()
}
