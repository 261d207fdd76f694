/**
 * Guards that run after all others: for a batch once, when the guards of its operations have found out who it is from.
 *
 * @module
 */

import { firstResponse, inLists, notePassed } from '../app/guards.ts'
import type { ApiRequest } from '../http/request.ts'
import type { Host } from '../records/engine/host.ts'
import type { Context } from '../records/engine/route.ts'
import type { Operation } from './operation.ts'

/** Runs the late guards of a batch, once: before anything is written, or refused by more than a guard. */
export type RunLateGuards = (operations: readonly Operation[]) => Promise<Response | undefined>

/** The late guards of one batch; the response of one is the batch's. */
export function lateGuards(host: Host, request: ApiRequest, context: Context): RunLateGuards {
  let response: Promise<Response | undefined> | undefined
  const run: RunLateGuards = async (operations) => {
    const passed = operations.flatMap((one) => one.passed ?? [])
    const { late } = inLists(new Set([...host.guards, ...passed]))
    if (late.length === 0) return undefined
    const requests = operations.flatMap((one) => one.request ?? [])
    const body = () => JSON.stringify(operations.map(({ asked }) => asked))
    notePassed(request, { requests, isRecords: true, body })
    return (await firstResponse(late, request, context)) as Response | undefined
  }
  return (operations) => {
    response ??= run(operations)
    return response
  }
}
