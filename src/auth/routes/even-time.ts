/**
 * Refusals in even steps of time. The work for one account takes some microseconds more than for another: a row to read,
 * a list to look through. Who measures often enough would see it, so a refusal leaves at the end of a step of time. What
 * takes longer, such as a write, happens for every account instead (see instance/decoys.ts).
 *
 * @module
 */

import type { Handler } from '../../records/engine/route.ts'

/** Milliseconds: far more than accounts differ by, and nothing that a person notices. */
const STEP = 5

/** Work that hangs must not keep a clock running: after so many steps, a refusal leaves at once. */
const MOST_STEPS = 2000

/**
 * `handler`, whose errors wait for the end of a step. The clock starts with the request, because a timer that is set
 * after the work would tell when that ended.
 */
export function refusesInSteps(handler: Handler): Handler {
  return async (request, context) => {
    let steps = 0
    let stepEnds = (): void => {}
    const clock = setInterval(() => {
      steps += 1
      stepEnds()
      if (steps === MOST_STEPS) clearInterval(clock)
    }, STEP)
    try {
      return await handler(request, context)
    } catch (error) {
      if (steps < MOST_STEPS) {
        await new Promise<void>((resolve) => {
          stepEnds = resolve
        })
      }
      throw error
    } finally {
      clearInterval(clock)
    }
  }
}
