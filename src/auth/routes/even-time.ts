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

/**
 * `handler`, whose errors wait for the end of a step. The clock starts with the request, because a timer that is set
 * after the work would tell when that ended.
 */
export function refusesInSteps(handler: Handler): Handler {
  return async (request, context) => {
    let stepEnds = (): void => {}
    const clock = setInterval(() => stepEnds(), STEP)
    try {
      return await handler(request, context)
    } catch (error) {
      await new Promise<void>((resolve) => {
        stepEnds = resolve
      })
      throw error
    } finally {
      clearInterval(clock)
    }
  }
}
