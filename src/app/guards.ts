/** Guards: which of them run when, until one responds. */

import { checkTime } from '../http/deadline.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { misusedContexts, runShielded } from '../http/request/shield.ts'
import type { Context, Guard } from '../records/engine/route.ts'
import { servedBy } from '../records/setup/serving.ts'
import type { AppContext } from './context.ts'
import type { Row } from './route-table.ts'

/** Guards by when they run: where they were put, or after all others of the route. */
export interface GuardLists {
  readonly prompt: Guard[]
  readonly late: Guard[]
}

export function inLists(guards: Iterable<Guard>): GuardLists {
  const lists = Object.groupBy(guards, ({ late }) => (late ? 'late' : 'prompt'))
  return { prompt: lists.prompt ?? [], late: lists.late ?? [] }
}

/** The first response that a guard returns; undefined if all of them let the request pass. */
export async function firstResponse(
  guards: readonly Guard[],
  request: ApiRequest,
  context: Context,
): Promise<unknown> {
  for (const guard of guards) {
    const response: unknown = await runShielded(request, guard, request, context)
    checkTime(request)
    // Anything else that a guard returns ends the request too: returning `false` by mistake must not let it pass.
    if (response !== undefined && response !== null) return response
    // Even if the guard has caught the error.
    const misuse = misusedContexts.get(context)
    if (misuse) throw misuse
  }
  return undefined
}

/** The response of a row's guards and handler, and of the app's `late` guards; undefined if all leave the request to others. */
export async function serveGuarded(
  row: Row,
  late: readonly Guard[],
  request: ApiRequest,
  context: AppContext,
): Promise<unknown> {
  // The lists of a row grow until the app starts, so they are not taken apart before.
  const own = inLists(row.guards)
  const refused = await firstResponse(own.prompt, request, context)
  if (refused !== undefined) return refused
  const last = row.runsLate ? [] : [...late, ...own.late]
  if (last.length > 0) {
    notePassed(request, { requests: [request], isRecords: servedBy(row.handler) !== undefined })
    const response = await firstResponse(last, request, context)
    if (response !== undefined) return response
  }
  return row.handler(request, context)
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

export function passedOf(request: ApiRequest): Passed {
  return known.get(request) ?? { requests: [request], isRecords: false }
}
