/**
 * What a consumer does with what waits: it tries again what is due, the first delivery of each lane first.
 *
 * @module
 */

import { POLL_MS } from '../loop.ts'
import type { Delivering, Tries } from './tries.ts'

/** Tries again what a consumer could not deliver. */
export class Retries {
  readonly #at: Delivering
  readonly #tries: Tries

  constructor(at: Delivering, tries: Tries) {
    this.#at = at
    this.#tries = tries
  }

  /** Tries what is due, until there is no more to do. */
  async run(): Promise<void> {
    const { host, held, pace } = this.#at
    let mayGoOn = true
    while (mayGoOn && !this.#at.isEnding) {
      const now = host.now()
      const next = Math.min(this.#tries.dueAfter(now), now + POLL_MS)
      const lanes = await held.dueLanes(new Date(now))
      const ends = await Promise.allSettled(lanes.map((lane) => this.#lane(lane)))
      const failed = ends.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
      if (lanes.length > 0) continue
      // Not longer: others may put back what was set aside.
      mayGoOn = await pace.sleep(next, this.#tries.bell)
    }
  }

  /** Tries the first delivery of a lane, then those behind it as long as they are done. */
  async #lane(lane: string): Promise<void> {
    while (!this.#at.isEnding && (await this.#first(lane)));
  }

  /** Tries the first delivery of a lane; resolves to whether the next one may be tried. */
  async #first(lane: string): Promise<boolean> {
    const { held, host } = this.#at
    const first = await held.first(lane)
    if (!first) return false
    if (first.due.getTime() > host.now()) {
      await this.#tries.write(held.postpone(lane, first.due))
      return false
    }
    const end = await this.#tries.run(first, first)
    if (end.kind === 'interrupted') return false
    if (end.kind === 'done') {
      await this.#tries.write(held.release(first))
      return true
    }
    const { isAside, attempt, due, error } = end
    await this.#tries.write(held.note(first, { isAside, attempt, due, error }))
    return isAside
  }
}
