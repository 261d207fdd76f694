/** `batch`: several writes of records in one request, all or nothing. */

import * as z from 'zod/mini'
import { routesOf } from '../app/route-table.ts'
import { isJson, readJson } from '../http/body/body.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { dataResponse, isResponse } from '../http/response/respond.ts'
import { checkOptions, natural } from '../model/option-rules.ts'
import { isFields } from '../model/writable.ts'
import type { Host, Mountable } from '../records/engine/host.ts'
import { checkWrites } from '../records/engine/integrity.ts'
import type { Handler, Route } from '../records/engine/route.ts'
import { SerialQueue } from '../records/engine/serial-queue.ts'
import { inherited, Operation } from './operation.ts'
import { operationsIn, Refused } from './operations.ts'
import { lateGuards, runBatch } from './run.ts'

/** Options of `batch`. */
export interface BatchOptions {
  /** The most operations of one batch; more are a 400. Default 100. */
  readonly max?: number
}

/**
 * A route that writes several records in one request: `POST <mount>` with `{ operations: [{ method, path, body?,
 * ifMatch? }] }`. Each operation is what a client would send alone, to a router of this app. All of them are written or
 * none, and no other request sees a part of them. Throws a `TypeError` if an option makes no sense; if the store cannot
 * write several records in one step, start-up fails.
 *
 * ```ts
 * app.mount('/batch', batch({ max: 100 }))
 * ```
 */
export function batch(options: BatchOptions = {}): Mountable {
  checkOptions(options, { max: natural }, 'batch')
  const { max = 100 } = options
  return {
    attach(host, mount) {
      host.onReady(() =>
        checkWrites(host.database, `batch() at '${mount}':`, {
          cannot: 'be all or nothing',
          remove: 'it',
        }),
      )
      const route: Route = {
        ...{ method: 'POST', path: '', guards: [], handler: handlerOf(host, max), runsLate: true },
        about: { summary: 'Several writes as one: all or nothing', response },
        headers: ['Change-Id'],
        body: z.object({ operations: z.array(operation).check(z.maxLength(max)) }),
      }
      return [route]
    },
  }
}

/** An operation, for descriptions; operations.ts checks it. */
const operation = z.object({
  method: z.enum(['POST', 'PATCH', 'DELETE']),
  path: z.string(),
  body: z.optional(z.unknown()),
  ifMatch: z.optional(z.string()),
})

/** The response, for descriptions. */
const response = z.object({
  success: z.literal(true),
  data: z.array(z.object({ status: z.number(), body: z.unknown() })),
})

function handlerOf(host: Host, max: number): Handler {
  const queue = new SerialQueue()
  const tableOf = routesOf(host)
  return async (request, context) => {
    let operations: readonly Operation[] = []
    try {
      const asked = operationsIn(await readJson(request, host), max)
      const surroundings = { host, request, context, headers: inherited(request), table: tableOf() }
      operations = asked.map((one) => new Operation(one, surroundings))
      const late = lateGuards(host, request, context)
      const responses = await runBatch({ host, request, context, operations, queue, late })
      if (isResponse(responses)) return responses
      const parts = await Promise.all(
        responses.map(async (response, at) => partOf(await operations[at]?.told(response))),
      )
      return dataResponse(`[${parts.join(',')}]`, { headers: changeIdOf(operations) })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      context.onResponse(async (response) => {
        const sent = await withOperation(response, error.operation)
        const told = await Promise.all(operations.map((one) => one.told(sent.clone())))
        return told[error.operation] ?? sent
      })
      if (isResponse(error.cause)) return error.cause
      throw error.cause
    } finally {
      leave(operations, request)
    }
  }
}

/** The position of the last entry that a batch has added to the log of changes. */
function changeIdOf(operations: readonly Operation[]): Record<string, string> {
  const last = operations.findLast(({ author }) => author.last)?.author.last
  return last === undefined ? {} : { 'Change-Id': last }
}

/** What the guards of operations leave to the batch: headers, and the user that caches and the log treat as its own. */
function leave(operations: readonly Operation[], request: ApiRequest): void {
  for (const one of operations) one.giveHeaders()
  const auth = operations.find((one) => one.request?.auth)?.request?.auth
  if (auth) request.auth ??= auth
}

/** One element of `data`. */
async function partOf(response: Response | undefined): Promise<string> {
  const text = (await response?.text()) ?? ''
  const json = isJson(response?.headers.get('content-type') ?? null)
  return `{"status":${response?.status},"body":${json && text !== '' ? text : 'null'}}`
}

/** `response` with the index of the operation that was refused. */
async function withOperation(response: Response, operation: number): Promise<Response> {
  if (!isJson(response.headers.get('content-type'))) return response
  const body: unknown = await response.clone().json()
  if (!isFields(body)) return response
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  const { status } = response
  return new Response(JSON.stringify({ ...body, operation }), { status, headers })
}
