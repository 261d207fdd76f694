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

/** The late guards of one batch. */
export class LateGuards {
  readonly #host: Host
  readonly #request: ApiRequest
  readonly #context: Context
  #response: Promise<Response | undefined> | undefined

  constructor(host: Host, request: ApiRequest, context: Context) {
    this.#host = host
    this.#request = request
    this.#context = context
  }

  /** Runs them, once: before anything is written, or refused by more than a guard. Their response is the batch's. */
  run(operations: readonly Operation[]): Promise<Response | undefined> {
    this.#response ??= this.#run(operations)
    return this.#response
  }

  async #run(operations: readonly Operation[]): Promise<Response | undefined> {
    const { guards } = this.#host
    const { late } = inLists(
      new Set([...guards, ...operations.flatMap(({ passed }) => passed ?? [])]),
    )
    if (late.length === 0) return undefined
    const requests = operations.flatMap(({ request }) => (request ? [request] : []))
    const body = () => JSON.stringify(operations.map(({ asked }) => asked))
    notePassed(this.#request, { requests, isRecords: true, body })
    const response = await firstResponse(late, this.#request, this.#context)
    return response as Response | undefined
  }
}
