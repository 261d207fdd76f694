/** Runs the operations of a batch one after the other, and writes what they have done as one. */

import { firstResponse, inLists, notePassed } from '../app/guards.ts'
import type { ApiRequest, RequestContext } from '../http/request/request.ts'
import { errorHandler } from '../http/response/error-handler.ts'
import { isResponse } from '../http/response/respond.ts'
import type { Host } from '../records/engine/host.ts'
import { KEYED, type Keyed, type WrittenIds } from '../records/engine/keyed-writes.ts'
import type { Context } from '../records/engine/route.ts'
import { pause, type SerialQueue } from '../records/engine/serial-queue.ts'
import type { Operation } from './operation.ts'
import { Refused } from './operations.ts'
import { Overlay, type Refusal, type Unwritten } from './overlay.ts'
import { overtaken } from './refusals.ts'

export interface Batch {
  readonly host: Host
  readonly request: ApiRequest
  readonly context: RequestContext
  readonly operations: readonly Operation[]
  /** Batches that were overtaken run one after the other. */
  readonly queue: SerialQueue
  readonly late: RunLateGuards
}

/** How often a batch is tried that other writers overtake. */
const MAX_TRIES = 10

/** The responses of all operations, or the one of a guard. Throws `Refused` for the first that can't be written. */
export async function runBatch(batch: Batch): Promise<readonly Response[] | Response> {
  const ids = new Map<number, string>()
  let refusal: Refusal | undefined
  let met = 0
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const attempt = () => attemptBatch(batch, ids, refusal)
    const inLine = tries > 0 && refusal === undefined
    const outcome = inLine ? await batch.queue.after('', attempt) : await attempt()
    if (isResponse(outcome) || Array.isArray(outcome)) return outcome
    refusal = undefined
    if ('refusal' in outcome) {
      refusal = outcome.refusal
    } else {
      met = outcome.overtaken
      await pause(tries)
    }
  }
  throw new Refused(met, overtaken())
}

async function attemptBatch(
  batch: Batch,
  ids: Map<number, string>,
  refusal: Refusal | undefined,
): Promise<Response[] | Unwritten | Response> {
  const { request, context, operations } = batch
  const overlay = new Overlay(batch, ids, refusal)
  const responses: Promise<Response>[] = []
  let isWritten = false
  try {
    for (const [at, operation] of operations.entries()) {
      const hasWritten = overlay.begin(at, operation.author)
      const response = operation.respond(overlay)
      // If another operation is refused, nobody asks for it.
      response.catch(() => {})
      responses.push(response)
      const refused = await refusalOf(response, hasWritten)
      if (!refused) continue
      // The same batch may have been written before, which is why it can't be now.
      const other = operation.passed && ((await early(batch, ids)) ?? (await overlay.doubt()))
      if (other) return other
      throw new Refused(at, refused.with)
    }
    const end = (await early(batch, ids)) ?? (await overlay.write())
    if (end) return end
    isWritten = true
  } finally {
    if (!isWritten) overlay.abandon()
  }
  const settled: Response[] = []
  for (const [at, response] of responses.entries()) {
    overlay.release(at)
    // What comes after the write may fail, as alone; the write has happened.
    settled.push(await response.catch((error) => errorHandler()(error, request, context)))
  }
  // What is read from now on is as the whole batch has left it.
  overlay.release(operations.length)
  return settled
}

/** How a batch ends without being written: by the response of a guard, or because an earlier request has written it. */
async function early(
  batch: Batch,
  ids: Map<number, string>,
): Promise<Response[] | Response | undefined> {
  const response = await batch.late(batch.operations)
  if (response) return response
  const written = (batch.request as Keyed)[KEYED]?.written
  return written && respondedAgain(batch, ids, written)
}

/** The responses of a batch that an earlier request has written: of its records as they are now. */
async function respondedAgain(
  batch: Batch,
  ids: Map<number, string>,
  created: WrittenIds,
): Promise<Response[]> {
  const { request, context, operations } = batch
  for (const [at, id] of created.entries()) if (id !== null) ids.set(at, id)
  const overlay = new Overlay(batch, ids)
  const responses: Response[] = []
  for (const [at, operation] of operations.entries()) {
    operation.wasWritten(created[at] ?? null)
    void overlay.begin(at, operation.author)
    const response = operation.respond(overlay)
    responses.push(await response.catch((error) => errorHandler()(error, request, context)))
  }
  return responses
}

/** What an operation is refused with, an error or a response; undefined if it has written, or needs not. */
async function refusalOf(
  response: Promise<Response>,
  hasWritten: Promise<void>,
): Promise<{ readonly with: unknown } | undefined> {
  try {
    const early = await Promise.race([response, hasWritten])
    return early && !early.ok ? { with: early } : undefined
  } catch (error) {
    return { with: error }
  }
}

/** Runs the late guards of a batch, once: before anything is written, or refused by more than a guard. */
type RunLateGuards = (operations: readonly Operation[]) => Promise<Response | undefined>

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
