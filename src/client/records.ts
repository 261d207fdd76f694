/**
 * The calls for the records of a mount.
 *
 * @module
 */

import { json, type Progress } from './answers.ts'
import type { CallRoute } from './calls.ts'
import type { HeaderFields } from './connection.ts'
import type { Conditions, ListOptions, PaginationOf } from './lists.ts'
import { inPath } from './paths.ts'
import { listed, type Refusal, type Wanted } from './query.ts'
import { ClientError, type Result } from './results.ts'
import type { Sending } from './sending.ts'
import type { AnyRecords, Changes, ClosedCalls, Created, Shown, Written } from './shapes.ts'

/** Options of every call. */
export interface CallOptions {
  /** Aborts the request; the result is then a failure with the status 0. */
  readonly signal?: AbortSignal
  /** Header fields of the request, over those of the client. */
  readonly headers?: HeaderFields
}

/** Options of calls that write. */
export interface WriteOptions extends CallOptions {
  /** Runs while files are sent, in browsers. Other platforms report no progress. */
  readonly onProgress?: (progress: Progress) => void
}

/** Options of `create`. */
export interface CreateOptions extends WriteOptions {
  /** Sent as `Idempotency-Key`, for routers with that guard: a second try with the same key makes no second record. */
  readonly idempotencyKey?: string
}

/** Options of calls that write an existing record. */
export interface Condition {
  /**
   * A record that this client has read, or an ETag: if the record has changed since, the call fails with a 412. Default:
   * no condition.
   */
  readonly ifMatch?: string | object
}

/** What all calls for records have, also those of a router that leaves routes out. */
export interface CallsFor<T extends AnyRecords> {
  /** Never set. */
  readonly '~serves'?: T
}

/** The calls for the records of a mount; a write resolves to `W`. */
export interface RecordsClient<T extends AnyRecords, W = Shown<T>> {
  // Not inherited from `CallsFor`: that would take the compiler longer.
  /** Never set. */
  readonly '~serves'?: T
  readonly call: CallRoute<T>
  /** A list, or one page of it. */
  list(options?: ListOptions<T>): Promise<Result<Shown<T>[], PaginationOf<T['options']>>>
  /** Every page, one after the other. Throws a `ClientError` when one cannot be read. */
  pages(options?: Conditions<T>): AsyncGenerator<{
    readonly data: Shown<T>[]
    readonly pagination: PaginationOf<T['options']>
  }>
  /** Every record, page by page. Throws a `ClientError` when a page cannot be read. */
  all(options?: Conditions<T>): AsyncGenerator<Shown<T>>
  /** One record. */
  get(id: string, options?: CallOptions): Promise<Result<Shown<T>>>
  /** Stores a record. A `File` or `Blob` among the values is uploaded. */
  create(values: Created<T>, options?: CreateOptions): Promise<Result<W>>
  /** Changes the given fields of a record. */
  update(id: string, changes: Changes<T>, options?: WriteOptions & Condition): Promise<Result<W>>
  /** Deletes a record; the data is the server's message. */
  remove(id: string, options?: CallOptions & Condition): Promise<Result<string>>
}

/** The calls for the routes that the router serves. */
export type ServedCalls<T extends AnyRecords> = keyof T['options'] &
  ('access' | 'scope') extends never
  ? RecordsClient<T>
  : Omit<RecordsClient<T, Written<T>>, ClosedCalls<T>>

type Values = Readonly<Record<string, unknown>>
type Listed = Result<unknown[], Values>
type Page = { readonly data: unknown[]; readonly pagination: Values }

/** Of `all` and `pages`, if the caller does not choose: routers answer with fewer where they allow no more. */
const PAGE_SIZE = 100

/** The calls for the records at `path`. */
export function recordCalls(path: string, send: Sending, refusal: Refusal): object {
  const at = (id: string) => `${path}/${inPath(id)}`

  const list = async (wanted: Wanted = {}, call = send.call()): Promise<Listed> =>
    send.shown(await listed(path, wanted, call.ask, refusal))

  async function* pages(wanted: Wanted = {}): AsyncGenerator<Page> {
    const call = send.call()
    let next: Wanted | undefined = { pageSize: PAGE_SIZE, ...wanted }
    while (next) {
      const result: Listed = await list(next, call)
      if (!result.ok) throw new ClientError(result.error)
      const { data, pagination = {} } = result
      yield { data, pagination }
      next = following(next, pagination)
    }
  }

  return {
    list: (wanted?: Wanted) => list(wanted),
    pages,
    async *all(wanted?: Wanted): AsyncGenerator<unknown> {
      for await (const { data } of pages(wanted)) yield* data
    },
    get: (id: string, options?: CallOptions) => send.one('GET', at(id), undefined, options),
    create: async (values: Values, options?: CreateOptions) =>
      send.one('POST', path, bodyOf(values), options),
    update: async (id: string, values: Values, options?: WriteOptions & Condition) =>
      send.one('PATCH', at(id), bodyOf(values), options),
    remove: (id: string, options?: CallOptions & Condition) =>
      send.one('DELETE', at(id), undefined, options),
  }
}

/** What asks for the page after one; undefined after the last. */
export function following(wanted: Wanted, pagination: Values): Wanted | undefined {
  const { nextCursor, hasMore, currentPage, totalPages } = pagination as Partial<Paging>
  if (nextCursor) return { ...wanted, cursor: nextCursor }
  const page = (currentPage as number) + 1
  return (totalPages === undefined ? hasMore : page <= totalPages) ? { ...wanted, page } : undefined
}

interface Paging {
  readonly nextCursor: string
  readonly hasMore: boolean
  readonly currentPage: number
  readonly totalPages: number
}

/** A form if there are files, else JSON. */
export function bodyOf(values: Values): string | FormData {
  const text = json(values)
  if (!Object.values(values).flat().some(isFile)) return text
  const form = new FormData()
  for (const [name, written] of Object.entries<unknown>(JSON.parse(text))) {
    if (written === null) {
      throw new TypeError(`'${name}' is null, which a form can't say.`)
    }
    const files = [values[name]].flat()
    const part = typeof written === 'string' ? written : JSON.stringify(written)
    for (const one of files.some(isFile) ? files : [part]) form.append(name, one as Blob)
  }
  return form
}

function isFile(value: unknown): boolean {
  return value instanceof Blob
}
