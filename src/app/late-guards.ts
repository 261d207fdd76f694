/**
 * Guards that run last: they act for the caller whom the other guards have found.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'
import type { Guard } from '../records/engine/route.ts'

/** Guards by when they run. */
interface Split {
  readonly length: number
  readonly prompt: readonly Guard[]
  readonly late: readonly Guard[]
}

const splits = new WeakMap<readonly Guard[], Split>()

/** Lists of guards grow until the app starts. */
function split(guards: readonly Guard[]): Split {
  const known = splits.get(guards)
  if (known?.length === guards.length) return known
  const [late, prompt] = [true, false].map((is) =>
    guards.filter((one) => (one.late === true) === is),
  )
  const made = { length: guards.length, prompt: prompt ?? [], late: late ?? [] }
  splits.set(guards, made)
  return made
}

/** The guards that run where they were put. */
export function promptGuards(guards: readonly Guard[]): readonly Guard[] {
  return split(guards).prompt
}

/** The guards that run after those of the route. */
export function lateGuards(guards: readonly Guard[]): readonly Guard[] {
  return split(guards).late
}

/** What a late guard may know of a request. */
export interface Passed {
  /** Whose requests it is: its own, or those of a batch's operations. */
  readonly requests: readonly ApiRequest[]
  /** Whether it changes records through a route of the six, which writes nothing before it has checked everything. */
  readonly isRecords: boolean
  /** What its body said, if that has been read already. */
  body?(): string
}

const known = new WeakMap<ApiRequest, Passed>()

/** Notes what has let a request pass, before late guards run. */
export function notePassed(request: ApiRequest, passed: Passed): void {
  known.set(request, passed)
}

/** What has let a request pass. */
export function passedOf(request: ApiRequest): Passed {
  return known.get(request) ?? { requests: [request], isRecords: false }
}
