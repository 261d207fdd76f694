import { setTimeout as delay } from 'node:timers/promises'

const PATIENCE_MS = 60_000

/** Waits until something holds; a trial that doesn't go on fails. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('the trial does not go on')
    await delay(5)
  }
}
