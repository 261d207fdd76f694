/** One operation of a batch: it goes the way of a request, from the guards to the write. */

import { runHooks } from '../app/context.ts'
import { firstResponse, inLists } from '../app/guards.ts'
import { respondElse } from '../app/methods.ts'
import { enter, type RouteTable, routedPath } from '../app/route-table.ts'
import { withoutCodings } from '../cache/conditional.ts'
import { hasArrived } from '../http/body/body.ts'
import { shareDeadline } from '../http/deadline.ts'
import { notAResponse } from '../http/request/not-a-response.ts'
import { partRequest } from '../http/request/part-request.ts'
import { type ApiRequest, noteBasePath } from '../http/request/request.ts'
import { isResponse } from '../http/response/respond.ts'
import { Author } from '../records/engine/author.ts'
import type { Host } from '../records/engine/host.ts'
import { noteKey, type WrittenIds } from '../records/engine/keyed-writes.ts'
import type { Context, Guard, ResponseHook } from '../records/engine/route.ts'
import { type Serving, servedBy } from '../records/setup/serving.ts'
import { create } from '../records/write/create.ts'
import { remove } from '../records/write/remove.ts'
import { update } from '../records/write/update.ts'
import { type OperationRequest, withCreatedIds } from './operations.ts'
import type { Overlay } from './overlay.ts'
import { notInBatch } from './refusals.ts'

export interface Surroundings {
  readonly request: ApiRequest
  readonly context: Context
  readonly headers: readonly [name: string, value: string][]
  readonly host: Host
  readonly table: RouteTable
}

interface Admitted extends Serving {
  readonly request: ApiRequest
}

/** The headers of a batch that its operations inherit: an Idempotency-Key is for the whole of it. */
export function inherited({ headers }: ApiRequest): Surroundings['headers'] {
  return [...headers].filter(([name]) => name !== 'idempotency-key')
}

/** An operation, which may run several times; its guards run once. */
export class Operation {
  /** As the client sent it. */
  readonly asked: OperationRequest
  /** Who does it, once its guards have let it pass. */
  readonly author: Author = new Author(() => this.request)
  /** Its request, once it has begun. */
  request: ApiRequest | undefined
  /** The guards that it was for, once those that run at once have let it pass. */
  passed: readonly Guard[] | undefined
  readonly #context: Context
  readonly #surroundings: Surroundings
  readonly #hooks: ResponseHook[] = []
  /** What its guards add to the response of the batch. */
  readonly #headers = new Headers()
  #overlay: Overlay | undefined
  #admitted: Promise<Admitted | Response> | undefined
  #written: WrittenIds | undefined

  constructor(asked: OperationRequest, surroundings: Surroundings) {
    this.asked = asked
    this.#surroundings = surroundings
    const { context: whole } = surroundings
    const overlaid = () => this.#overlay?.store ?? whole.store
    this.#context = notAResponse<Context>({
      env: whole.env,
      logger: whole.logger,
      clientAddress: whole.clientAddress,
      basePath: whole.basePath,
      get signal() {
        return whole.signal
      },
      headers: this.#headers,
      get store() {
        return overlaid()
      },
      onResponse: (hook) => void this.#hooks.unshift(hook),
      waitUntil: (promise) => whole.waitUntil(promise),
    })
  }

  /** It has been written before, for an earlier batch; `id` is that of the record that it wrote. */
  wasWritten(id: string | null): void {
    this.#written = [id]
  }

  /** Does it on `overlay`: waits there with the response until the batch is written. */
  async respond(overlay: Overlay): Promise<Response> {
    this.#overlay = overlay
    this.#admitted ??= this.#admit(overlay)
    const admitted = await this.#admitted
    if (isResponse(admitted)) return admitted
    const { request, operation } = admitted
    if (this.#written) noteKey(request, { written: this.#written })
    const resource = this.#written ? admitted.resource : overlay.resource(admitted.resource)
    if (operation === 'create') return create(resource, request, this.#context)
    if (operation === 'update') return update(resource, request, this.#context)
    return remove(resource, request, this.#context)
  }

  giveHeaders(): void {
    addHeaders(this.#surroundings.context.headers, this.#headers)
  }

  /** Calls the hooks of its guards, as alone; resolves to the response that they leave. */
  told(response: Response): Promise<Response> {
    return runHooks(this.#hooks, response, false, this.#context.logger)
  }

  /** What serves it, once its guards have let it pass, or the response of one that has not. */
  async #admit(overlay: Overlay): Promise<Admitted | Response> {
    const { host, table } = this.#surroundings
    const asked = withCreatedIds(this.asked, (operation) => overlay.createdBy(operation))
    const request = requestOf(asked, this.#surroundings)
    this.request = request
    noteBasePath(request, this.#context.basePath)
    const refused = await firstResponse(inLists(host.guards).prompt, request, this.#context)
    if (refused !== undefined) return responseOf(refused)
    const path = routedPath(request)
    const rows = table.at(path)
    const row = rows.find(({ method }) => method === request.method)
    if (!row) return responseOf(await respondElse(rows, undefined, path, request, this.#context))
    const serving = servedBy(row.handler)
    if (!serving || serving.operation === 'restore') throw notInBatch()
    enter(row, path, request)
    const response = await firstResponse(inLists(row.guards).prompt, request, this.#context)
    if (response !== undefined) return responseOf(response)
    this.passed = [...host.guards, ...row.guards]
    return { ...serving, request }
  }
}

/** The request that a client would have sent alone, with the headers and the time limit of the batch's. */
function requestOf(
  { method, path, body, ifMatch }: OperationRequest,
  { request: whole, headers, host: { basePath } }: Surroundings,
): ApiRequest {
  // Paths of operations may be below the app's own path.
  const isWhole = basePath !== '' && path.startsWith(`${basePath}/`)
  const request = partRequest(whole, {
    ...{ method, body, headers },
    ...(ifMatch !== undefined && { ifMatch: withoutCodings(ifMatch) }),
    path: path.slice(isWhole ? basePath.length : 0),
  })
  hasArrived(request, body)
  shareDeadline(whole, request)
  return request
}

function responseOf(value: unknown): Response {
  if (isResponse(value)) return value
  throw new TypeError(
    `a guard returned a value of type ${typeof value}. Return a Response, or nothing.`,
  )
}

/** Lists whose items say different things: a policy, or the name of a header. */
const LISTS: ReadonlySet<string> = new Set(['ratelimit', 'ratelimit-policy', 'vary'])

/** Adds what an operation would have sent alone to the headers of the batch. */
function addHeaders(all: Headers, own: Headers): void {
  const cookies = new Map(all.getSetCookie().map((cookie) => [nameIn(cookie), cookie]))
  for (const cookie of own.getSetCookie()) cookies.set(nameIn(cookie), cookie)
  for (const [name, value] of own) {
    const before = all.get(name)
    all.set(name, LISTS.has(name) && before !== null ? withItems(before, value) : value)
  }
  all.delete('set-cookie')
  for (const cookie of cookies.values()) all.append('set-cookie', cookie)
}

/** Both lists as one, in which later items replace earlier ones of the same name. */
function withItems(before: string, value: string): string {
  const items = new Map<string, string>()
  for (const item of `${before},${value}`.split(',')) items.set(nameIn(item), item.trim())
  return [...items.values()].join(', ')
}

/** What comes before the parameters of an item, or the value of a cookie. */
function nameIn(item: string): string {
  return item.split(/[;=]/, 1)[0]?.trim().toLowerCase() ?? ''
}
