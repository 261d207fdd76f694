/**
 * The queue of images: one at a time is decoded, and clients take turns.
 *
 * @module
 */

/** If less time is left, no task is started. */
const LEAST_MS = 100
/** A task that does not end in time holds the queue for at most this much longer. */
const GRACE_MS = 10_000

interface Waiting {
  readonly start: () => Promise<unknown>
}

/**
 * Runs one task at a time. Every client gets a turn before any client gets a second one, so a client with many images
 * does not make the others wait for all of them.
 */
export class FairQueue {
  /** By client, in the order of their turns. */
  readonly #clients = new Map<unknown, Set<Waiting>>()
  #busy = false

  /**
   * Runs `task` and returns its result; `task` is told how many of the `ms` milliseconds are left. Rejects when they
   * are over, whether it has started or not.
   */
  async run<T>(client: unknown, ms: number, task: (left: number) => Promise<T>): Promise<T> {
    const until = performance.now() + ms
    let timer: ReturnType<typeof setTimeout> | undefined
    let waiting: Waiting | undefined
    try {
      return await new Promise<T>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error('it took too long, or too many waited')), ms)
        const start = async () => {
          const left = until - performance.now()
          if (left < LEAST_MS) return
          const run = task(left)
          run.then(resolve, reject)
          await settled(run, left + GRACE_MS)
        }
        waiting = { start }
        this.#add(client, waiting)
      })
    } finally {
      clearTimeout(timer)
      if (waiting) this.#remove(client, waiting)
    }
  }

  #add(client: unknown, waiting: Waiting): void {
    const own = this.#clients.get(client) ?? new Set()
    this.#clients.set(client, own.add(waiting))
    if (!this.#busy) void this.#work()
  }

  #remove(client: unknown, waiting: Waiting): void {
    const own = this.#clients.get(client)
    own?.delete(waiting)
    if (own?.size === 0) this.#clients.delete(client)
  }

  async #work(): Promise<void> {
    this.#busy = true
    for (let next = this.#next(); next; next = this.#next()) await next.start()
    this.#busy = false
  }

  /** The first image of the client whose turn it is; this client then goes to the end of the queue. */
  #next(): Waiting | undefined {
    for (const [client, own] of this.#clients) {
      const [waiting] = own
      this.#clients.delete(client)
      if (!waiting) continue
      own.delete(waiting)
      if (own.size > 0) this.#clients.set(client, own)
      return waiting
    }
    return undefined
  }
}

/** Settles when `run` has, or after `ms` milliseconds. */
async function settled(run: Promise<unknown>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([run.catch(() => {}), late])
  clearTimeout(timer)
}
