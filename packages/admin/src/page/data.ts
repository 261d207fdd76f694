/**
 * The data provider: that of `fieldgate/react-admin`, with what the document tells beyond it: cursors, batches, versions.
 *
 * @module
 */

import type { DataProvider, RaRecord } from 'ra-core'
import { reactAdminData } from '../../../../adapters/clients/react-admin.ts'
import { ClientError, type createClient } from '../../../../src/client/index.ts'
import type { Action, AppShape, Resource } from './document.ts'
import { hasFile } from './form-values.ts'
import type { Rights } from './rights.ts'
import { type Narrowing, wantedOf } from './rules.ts'

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>

/** A failed call, or the record of one that succeeded. */
export type Outcome<T> =
  | { readonly ok: true; readonly data: T; readonly etag?: string; readonly pagination?: Values }
  | { readonly ok: false; readonly error: ClientError }

/** The calls of a mount, as the client has them. */
export interface Calls {
  list(options: Values): Promise<Outcome<RaRecord[]>>
  get(id: string): Promise<Outcome<RaRecord>>
  create(values: Values, options?: Values): Promise<Outcome<RaRecord>>
  update(id: string, values: Values, options?: Values): Promise<Outcome<RaRecord>>
  remove(id: string, options?: Values): Promise<Outcome<string>>
  aggregate(options: Values): Promise<Outcome<Values[]>>
  export(format: 'csv', options: Values): Promise<Outcome<Response>>
  live(options: Values, on: Following): Promise<void>
  history(id: string, options: Values): Promise<Outcome<Change[]>>
  restore(id: string, changeId: string): Promise<Outcome<RaRecord>>
  call(route: string, options?: Values): Promise<Outcome<unknown>>
}

/** What is called while a list is followed. */
export interface Following {
  readonly onChange: (records: readonly { readonly _id: string }[]) => void
  readonly onError: (error: { readonly status: number }) => void
  readonly signal: AbortSignal
}

/** One change of a record's history. */
export interface Change {
  readonly id: string
  readonly at: string
  readonly by: string | null
  readonly kind: 'created' | 'updated' | 'removed'
  readonly changes: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
}

/** Calls by their names, of an auth router. */
export type AccountCalls = Readonly<
  // biome-ignore lint/suspicious/noExplicitAny: what each call gives is said where it is called
  Record<string, (...given: unknown[]) => Promise<Outcome<any>>>
> & {
  readonly passkeys: Record<
    'register' | 'signIn' | 'confirm',
    (options?: Values) => Promise<Outcome<unknown>>
  >
  readonly oidc: {
    begin(provider: string, options: Values): Promise<never>
    finish(): Promise<Outcome<unknown> | undefined>
  }
}

export type Api = ReturnType<typeof createClient>

/** The calls of a mount, which is known only here. */
export function callsOf(api: Api, mount: string): Calls {
  return (api as unknown as (mount: string) => Calls)(mount)
}

/** The most operations of a batch. */
const BATCH = 100

/** The data of the app's resources. */
export class Data {
  readonly #api: Api
  readonly #shape: AppShape
  readonly #rights: Rights
  /** The versions of the records that were read, by their paths. */
  readonly #etags = new Map<string, string>()
  /** Where pages begin, by what is listed. */
  readonly #cursors = new Map<string, (string | undefined)[]>()

  constructor(api: Api, shape: AppShape, rights: Rights) {
    this.#api = api
    this.#shape = shape
    this.#rights = rights
  }

  resource(name: string): Resource {
    const found = this.#shape.resources.find((one) => one.name === name)
    if (!found) throw new Error(`there is no resource '${name}'`)
    return found
  }

  calls(name: string): Calls {
    return callsOf(this.#api, this.resource(name).mount)
  }

  /** As react-admin takes it. */
  provider(): DataProvider {
    const mounts = Object.fromEntries(this.#shape.resources.map(({ name, mount }) => [name, mount]))
    const plain = reactAdminData(this.#api as never, { mounts })
    return {
      ...(plain as unknown as DataProvider),
      getList: async (name, params) => this.#list(name, params) as never,
      getOne: async (name, { id }) => {
        const result = await this.calls(name).get(String(id))
        const record = this.#done(result, name, 'read')
        if (result.ok && result.etag) this.#etags.set(`${name}/${id}`, result.etag)
        return { data: withId(record) as never }
      },
      updateMany: async (name, { ids, data }) => this.#each(name, 'update', ids, data),
      deleteMany: async (name, { ids }) => this.#each(name, 'delete', ids),
    }
  }

  /** The version of a record that was read last. */
  versionOf(name: string, id: string): string | undefined {
    return this.#etags.get(`${name}/${id}`)
  }

  /** Creates a record, or changes one if it is still as it was read, or as `options.ifMatch` has it. */
  async save(
    name: string,
    id: string | undefined,
    values: Values,
    options: Values,
  ): Promise<RaRecord> {
    const calls = this.calls(name)
    const entries = Object.entries(values)
    const cleared = entries.filter(([, value]) => value === null)
    // A form with files cannot say null.
    if (id !== undefined && cleared.length > 0 && entries.some(([, value]) => hasFile(value))) {
      const { ifMatch, ...others } = options
      await this.save(name, id, Object.fromEntries(cleared), { ifMatch })
      const rest = entries.filter(([, value]) => value !== null)
      return this.save(name, id, Object.fromEntries(rest), others)
    }
    const etag = options.ifMatch ?? this.#etags.get(`${name}/${id}`)
    const result =
      id === undefined
        ? await calls.create(values, options)
        : await calls.update(id, values, { ...options, ...(etag && { ifMatch: etag }) })
    if (result.ok && result.etag) this.#etags.set(`${name}/${id}`, result.etag)
    else this.#etags.delete(`${name}/${id}`)
    return withId(this.#done(result, name, id === undefined ? 'create' : 'update'))
  }

  async remove(name: string, id: string): Promise<void> {
    this.#done(await this.calls(name).remove(id), name, 'delete')
  }

  /** What happened to a record, the latest first, and where the history goes on. */
  async history(
    name: string,
    id: string,
    cursor: string | undefined,
  ): Promise<{ readonly changes: readonly Change[]; readonly next: string | undefined }> {
    const result = await this.calls(name).history(id, { cursor, pageSize: 20 })
    const changes = this.#done(result, name, 'history')
    const { nextCursor } = (result.ok && result.pagination) as Paging
    return { changes, next: nextCursor ?? undefined }
  }

  /** Makes a record what it was after a change. */
  async restore(name: string, id: string, changeId: string): Promise<void> {
    this.#done(await this.calls(name).restore(id, changeId), name, 'restore')
  }

  /** Every record of a list, page by page, for as long as `signal` lets it. */
  async *pages(name: string, wanted: Values): AsyncGenerator<RaRecord[]> {
    const resource = this.resource(name)
    let next: Values | undefined = { pageSize: 100, ...(!resource.isByCursor && { page: 1 }) }
    while (next) {
      const result: Outcome<RaRecord[]> = await this.calls(name).list({ ...wanted, ...next })
      yield this.#done(result, name, 'list')
      const { hasMore, nextCursor, currentPage, totalPages } = (result.ok &&
        result.pagination) as Paging
      const isLast = totalPages === undefined ? !hasMore : (currentPage ?? 1) >= totalPages
      const { page, pageSize } = next as { page?: number; pageSize: number }
      next = isLast
        ? undefined
        : { pageSize, ...(nextCursor ? { cursor: nextCursor } : { page: (page ?? 1) + 1 }) }
    }
  }

  async #list(name: string, params: ListParams): Promise<object> {
    const resource = this.resource(name)
    const { filter = {}, sort, pagination = { page: 1, perPage: 25 }, signal } = params
    const { page, perPage } = pagination
    const wanted = {
      ...wantedOf(filter, resource),
      ...(sort &&
        resource.sortable.has(sort.field) && {
          sort: (sort.order === 'DESC' ? '-' : '') + sort.field,
        }),
      ...(resource.expandable.length > 0 && { expand: resource.expandable.filter(isShort) }),
      pageSize: perPage,
    }
    const starts = this.#startsOf(JSON.stringify([name, wanted]))
    const cursor = resource.isByCursor ? await this.#cursor(name, wanted, starts, page) : undefined
    const place = resource.isByCursor ? (cursor ? { cursor } : {}) : { page }
    const result = await this.calls(name).list({ ...wanted, ...place, ...(signal && { signal }) })
    const data = this.#done(result, name, 'list').map(withId)
    const { totalRecords, hasMore, nextCursor } = (result.ok && result.pagination) as Paging
    if (nextCursor) starts[page + 1] = nextCursor
    if (totalRecords !== undefined) return { data, total: totalRecords }
    return { data, pageInfo: { hasNextPage: hasMore === true, hasPreviousPage: page > 1 } }
  }

  #startsOf(key: string): (string | undefined)[] {
    const starts = this.#cursors.get(key) ?? []
    this.#cursors.set(key, starts)
    return starts
  }

  /** Where a page begins: after a reload, the pages before it are asked for their ends. */
  async #cursor(name: string, wanted: Values, starts: (string | undefined)[], page: number) {
    for (let at = 1; at < page; at += 1) {
      if (starts[at + 1]) continue
      const cursor = starts[at]
      const before = await this.calls(name).list({ ...wanted, ...(cursor && { cursor }) })
      this.#done(before, name, 'list')
      const { nextCursor } = (before.ok && before.pagination) as Paging
      if (!nextCursor) return cursor
      starts[at + 1] = nextCursor
    }
    return starts[page]
  }

  /** Writes several records: as one, where the app takes batches. */
  async #each(name: string, action: 'update' | 'delete', ids: readonly unknown[], body?: Values) {
    const { mount, isUsers } = this.resource(name)
    const all = ids.map(String)
    const method = action === 'update' ? 'PATCH' : 'DELETE'
    if (this.#shape.batch && !isUsers && all.length <= BATCH) {
      const operations = all.map((id) => ({
        method,
        path: `${mount}/${encodeURIComponent(id)}`,
        ...(body && { body }),
      }))
      const calls = callsOf(this.#api, this.#shape.batch)
      this.#done(await calls.call('POST', { body: { operations } }), name, action)
      return { data: all }
    }
    const done: string[] = []
    for (const id of all) {
      const calls = this.calls(name)
      const result = await (body ? calls.update(id, body) : calls.remove(id))
      if (!result.ok) {
        const error = new ClientError(result.error)
        this.#rights.note(this.resource(name), action, error.status)
        throw Object.assign(error, { done })
      }
      done.push(id)
    }
    return { data: done }
  }

  #done<T>(result: Outcome<T>, name: string, action: Action): T {
    if (result.ok) return result.data
    this.#rights.note(this.resource(name), action, result.error.status)
    throw Object.assign(new ClientError(result.error), { action })
  }
}

const isShort = (path: string) => !path.includes('.')

function withId(record: RaRecord | Values): RaRecord {
  return { ...record, id: (record as RaRecord)._id ?? (record as RaRecord).id } as RaRecord
}

interface Paging {
  readonly totalRecords?: number
  readonly hasMore?: boolean
  readonly nextCursor?: string
  readonly currentPage?: number
  readonly totalPages?: number
}

interface ListParams {
  readonly filter?: Narrowing
  readonly sort?: { readonly field: string; readonly order: string }
  readonly pagination?: { readonly page: number; readonly perPage: number }
  readonly signal?: AbortSignal
}
