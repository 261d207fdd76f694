/**
 * Gathers the writes of several processes, so that they wait for the disk together.
 *
 * After each commit, its writers and those that came meanwhile will soon write again. Without patience the first of them
 * would get a commit of their own, and then the others: the processes would take turns at the disk, each with its part
 * of the writes, and need twice as many commits as one process.
 *
 * @module
 */

/** The longest wait for others, in milliseconds. A wait is also never longer than the last commit took. */
const MAX_WAIT_MS = 10
/** Commits that take less than this, in milliseconds, are not worth a wait. */
const QUICK_MS = 1

/** The writes of several processes until they begin. */
export class Gathering {
  /** Each begins a write, and settles after its commit. */
  #waiting: (() => Promise<unknown>)[] = []
  /** How many are expected to write soon. */
  #expected = 0
  #commitMs = 0
  #isBusy = false
  #timer: ReturnType<typeof setTimeout> | undefined

  /** The result of `write`, which begins when as many have come as are expected, or after a moment. */
  run<T>(write: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => write().then(resolve, reject))
      this.#beginIfAll()
    })
  }

  #beginIfAll(): void {
    if (this.#isBusy) return
    const { length } = this.#waiting
    if (length === 0) return
    if (length >= this.#expected || this.#commitMs < QUICK_MS) void this.#begin()
    else this.#timer ??= setTimeout(() => void this.#begin(), Math.min(this.#commitMs, MAX_WAIT_MS))
  }

  async #begin(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isBusy = true
    const writes = this.#waiting
    this.#waiting = []
    const from = performance.now()
    await Promise.all(writes.map((begin) => begin()))
    this.#commitMs = performance.now() - from
    // The event loop has waited for the disk: who has come meanwhile is seen only now.
    await turn()
    await turn()
    this.#isBusy = false
    this.#expected = writes.length + this.#waiting.length
    this.#beginIfAll()
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
