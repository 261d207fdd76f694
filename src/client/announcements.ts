/**
 * What tabs tell each other in time. Storage and channels reach other tabs some time later, but who holds which lock is
 * the same for all tabs at every moment: so an announcement is a lock that is held for a while.
 *
 * @module
 */

/** How long an announcement is heard, in milliseconds. */
const HEARD_MS = 10_000

/** The announcements of one session. */
export class Announcements {
  readonly #locks: LockManager
  readonly #start: string

  constructor(locks: LockManager, key: string) {
    this.#locks = locks
    this.#start = `${key}#`
  }

  /** Announces `text`; every tab hears it from the moment that this resolves. */
  make(text: string): Promise<void> {
    return new Promise((resolve) => {
      void this.#locks.request(this.#start + text, { mode: 'shared' }, () => {
        resolve()
        return new Promise<void>((end) => {
          const timer: unknown = setTimeout(end, HEARD_MS)
          // Node would wait for it instead of ending.
          ;(timer as { unref?(): void }).unref?.()
        })
      })
    })
  }

  /** What is announced now. */
  async heard(): Promise<string[]> {
    const { held = [] } = await this.#locks.query()
    return held.flatMap(({ name = '' }) =>
      name.startsWith(this.#start) ? name.slice(this.#start.length) : [],
    )
  }
}
