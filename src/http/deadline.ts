/**
 * The time that a request has: after it the client has been answered, and what still runs for it must write nothing.
 *
 * @module
 */

import { unavailable } from './outages.ts'

const DEADLINE = Symbol('deadline')

interface Timed extends Request {
  [DEADLINE]?: Deadline
}

/** One request's time. While its body arrives, which has limits of its own, the time does not run. */
export class Deadline {
  #request: Request | undefined
  #ms = 0
  #over: ((reason: Error) => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #waiting: Set<() => void> | undefined
  #controller: AbortController | undefined
  #signal: AbortSignal | undefined
  /** Why the time is over; undefined as long as it is not. */
  #reason: Error | undefined

  /** `request` has any time, until `limit` is called. */
  constructor(request: Request) {
    this.#request = request
  }

  /** Gives the request `ms` milliseconds, then calls `over`. Its `signal` aborts then too. */
  limit(ms: number, over: (reason: Error) => void): void {
    const request = this.#request as Timed
    this.#ms = ms
    // No function is made for each request: V8 would keep it among its old objects, and the request with it.
    this.#over = over
    request[DEADLINE] = this
    Object.defineProperty(request, 'signal', SIGNAL)
    this.resume()
  }

  /** Aborts when the time is over. Made when first asked for. */
  get own(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reason) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Aborts when the time is over, or the client goes away where the runtime tells. */
  get signal(): AbortSignal {
    if (this.#signal) return this.#signal
    const { own } = this
    const request = this.#request
    const platforms = request && Reflect.get(Object.getPrototypeOf(request), 'signal', request)
    this.#signal = platforms ? AbortSignal.any([own, platforms as AbortSignal]) : own
    return this.#signal
  }

  /** Throws a 503 when the time is over. */
  check(): void {
    if (this.#reason) throw unavailable(this.#reason)
  }

  /** What `work` gives; a 503 when the time is over before it. */
  async within<T>(work: () => T | Promise<T>): Promise<T> {
    this.check()
    let giveUp = (): void => {}
    const over = new Promise<never>((_, reject) => {
      giveUp = () => reject(unavailable(this.#reason))
    })
    this.#waiting ??= new Set()
    this.#waiting.add(giveUp)
    try {
      return await Promise.race([work(), over])
    } finally {
      this.#waiting.delete(giveUp)
    }
  }

  /** Stops the clock while the body arrives. */
  pause(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Starts the clock anew; not for a request that has ended. */
  resume(): void {
    if (this.#timer === undefined && this.#over) this.#timer = setTimeout(expire, this.#ms, this)
  }

  /** Ends the time. */
  expire(): void {
    this.#reason = new Error(`the request took longer than ${this.#ms} ms`)
    this.#controller?.abort(this.#reason)
    for (const giveUp of this.#waiting ?? []) giveUp()
    this.#over?.(this.#reason)
  }

  /** The code that serves the request has ended: in time, or after its client was answered. */
  end(): 'in time' | 'over' {
    this.pause()
    this.#request = undefined
    this.#over = undefined
    return this.#reason ? 'over' : 'in time'
  }
}

function expire(deadline: Deadline): void {
  deadline.expire()
}

/** The same descriptor for all requests: V8 would give each one of its own a shape of its own. */
const SIGNAL: PropertyDescriptor = {
  configurable: true,
  get(this: Timed) {
    return this[DEADLINE]?.signal
  },
}

/** The deadline of a request; undefined where it has none. */
export function deadlineOf(request: Request): Deadline | undefined {
  return (request as Timed)[DEADLINE]
}

/** What a hook gives; a 503 when the time of `request` is over before it, so that nothing waits for a hook that hangs. */
export async function inTime<T>(request: Request, hook: () => T | Promise<T>): Promise<T> {
  const deadline = deadlineOf(request)
  return deadline ? deadline.within(hook) : hook()
}

/** Throws a 503 when the time of `request` is over: its client has been answered, so nothing may be written for it. */
export function checkTime(request: Request): void {
  deadlineOf(request)?.check()
}
