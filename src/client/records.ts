/**
 * The calls for the records of a mount.
 *
 * @module
 */

import { type Answer, type Ask, type Progress, resultOf, succeeded } from './answers.ts'
import type { Connection } from './connection.ts'
import type { Conditions, ListOptions, PaginationOf } from './lists.ts'
import { Lists, type Wanted } from './query.ts'
import { ClientError, type Result } from './results.ts'
import type { AnyRecords, Changes, ClosedCalls, Created, Shown, Written } from './shapes.ts'

/** Options of every call for one record. */
export interface CallOptions {
  /** Aborts the request; the result is then a failure with the status 0. */
  readonly signal?: AbortSignal
}

/** Options of calls that write. */
export interface WriteOptions extends CallOptions {
  /** Runs while files are sent, in browsers. Other platforms report no progress. */
  readonly onProgress?: (progress: Progress) => void
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
  create(values: Created<T>, options?: WriteOptions): Promise<Result<W>>
  /** Changes the given fields of a record. */
  update(id: string, changes: Changes<T>, options?: WriteOptions & Condition): Promise<Result<W>>
  /** Deletes a record; the data is the server's message. */
  remove(id: string, options?: CallOptions & Condition): Promise<Result<string>>
}

/** The calls for the routes that the router serves. */
export type ServedCalls<T extends AnyRecords> = T extends { readonly rare: object }
  ? Omit<RecordsClient<T, Written<T>>, ClosedCalls<T>>
  : RecordsClient<T>

/** What is remembered of a record that was read: its tag, or the response that it came in. */
interface Origin {
  readonly etag?: string | undefined
  readonly text: string
  /** Its place in a list. */
  readonly index?: number
}

/** The records that a client has read. */
export type Known = WeakMap<object, Origin>

type Values = Readonly<Record<string, unknown>>
type Page = { readonly data: object[]; readonly pagination: Values }

/** Of `all` and `pages`, if the caller does not choose: routers answer with fewer where they allow no more. */
const PAGE_SIZE = 100

/** The calls for the records under `url`. */
export function recordCalls(url: string, connection: Connection, known: Known): object {
  const lists = new Lists(url, (request) => connection.ask(request))
  const at = (id: string) => `${url}/${encodeURIComponent(id)}`

  /** The result of one record, which is remembered. */
  function one(answer: Answer): Result<object> {
    const result = resultOf<object, never>(answer)
    if (result.ok) known.set(result.data, { etag: result.etag, text: answer.text })
    return result
  }

  async function list(wanted: Wanted = {}): Promise<Result<object[], Values>> {
    const answer = await lists.ask(wanted)
    const result = resultOf<object[], Values>(answer)
    if (result.ok) {
      result.data.forEach((record, index) => {
        known.set(record, { text: answer.text, index })
      })
    }
    return result
  }

  async function* pages(wanted: Wanted = {}): AsyncGenerator<Page> {
    let next: Wanted | undefined = { pageSize: PAGE_SIZE, ...wanted }
    while (next) {
      const result: Result<object[], Values> = await list(next)
      if (!result.ok) throw new ClientError(result.error)
      const { data, pagination = {} } = result
      yield { data, pagination }
      next = following(next, pagination)
    }
  }

  /** Sends a write, after the condition is known. */
  async function write(
    method: string,
    id: string,
    values: Values | undefined,
    { ifMatch, ...options }: WriteOptions & Condition = {},
  ): Promise<Answer> {
    const request: Ask = { method, url: at(id), body: values && bodyOf(values), ...options }
    if (ifMatch === undefined) return connection.ask(request)
    const tag = typeof ifMatch === 'string' ? ifMatch : await tagOf(id, ifMatch, options)
    if (typeof tag !== 'string') return tag
    return connection.ask({ ...request, headers: { 'If-Match': tag } })
  }

  /** The tag of a record as it was read. A list has no tags, so the record is read again and compared. */
  async function tagOf(id: string, record: object, options: CallOptions): Promise<string | Answer> {
    const origin = known.get(record)
    if (!origin) {
      throw new TypeError(`'ifMatch' must be an ETag, or a record as this client has returned it`)
    }
    if (origin.etag !== undefined) return origin.etag
    const answer = await connection.ask({ method: 'GET', url: at(id), ...options })
    if (!succeeded(answer)) return answer
    if (stateIn(origin) !== stateIn({ text: answer.text })) return changed(answer)
    const tag = answer.header('ETag')
    if (tag === null) {
      throw new TypeError(
        `'ifMatch' needs the header ETag. Let browsers read it: Access-Control-Expose-Headers: ETag`,
      )
    }
    return tag
  }

  return {
    list,
    pages,
    async *all(wanted?: Wanted): AsyncGenerator<object> {
      for await (const { data } of pages(wanted)) yield* data
    },
    get: async (id: string, options?: CallOptions) =>
      one(await connection.ask({ method: 'GET', url: at(id), ...options })),
    create: async (values: Values, options?: WriteOptions) =>
      one(await connection.ask({ method: 'POST', url, body: bodyOf(values), ...options })),
    update: async (id: string, values: Values, options?: WriteOptions & Condition) =>
      one(await write('PATCH', id, values, options)),
    remove: async (id: string, options?: CallOptions & Condition) =>
      resultOf<string, never>(await write('DELETE', id, undefined, options)),
  }
}

/** What asks for the page after one; undefined after the last. */
export function following(wanted: Wanted, pagination: Values): Wanted | undefined {
  const { nextCursor, hasMore, currentPage, totalPages } = pagination
  if (typeof nextCursor === 'string') return { ...wanted, cursor: nextCursor }
  const isLast = typeof totalPages === 'number' ? Number(currentPage) >= totalPages : !hasMore
  return isLast ? undefined : { ...wanted, page: Number(currentPage) + 1 }
}

/** A record as it was read, whatever has been done to the object since. */
function stateIn({ text, index }: Origin): string {
  const { data } = JSON.parse(text)
  return JSON.stringify(index === undefined ? data : data[index])
}

/** What the server answers to a write of a record that has changed since it was read. */
function changed(answer: Answer): Answer {
  const error = 'The record has changed since it was read.'
  return { ...answer, status: 412, body: { success: false, error } }
}

/** A form if there are files, else the values themselves, for JSON. */
function bodyOf(values: Values): Values | FormData {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  if (!entries.some(([, value]) => [value].flat().some(isFile))) return values
  const form = new FormData()
  for (const [name, value] of entries) {
    if (value === null) {
      throw new TypeError(`'${name}' is null, which a form cannot say. Send it without the files.`)
    }
    const files = [value].flat()
    if (files.some(isFile)) for (const file of files) form.append(name, file as Blob)
    else form.append(name, partOf(value))
  }
  return form
}

function isFile(value: unknown): boolean {
  return value instanceof Blob
}

function partOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
