/**
 * The data provider: that of `fieldgate/react-admin`, with what the document tells beyond it: cursors, batches, versions.
 *
 * @module
 */

import type { QueryClient } from '@tanstack/query-core'
import type { DataProvider, RaRecord } from 'ra-core'
import { reactAdminData } from '../../../../adapters/clients/react-admin.ts'
import { ClientError, type createClient } from '../../../../src/client/index.ts'
import type { Action, AppShape, Resource } from './document.ts'
import type { Field } from './fields.ts'
import { hasFile } from './form-values.ts'
import { Lists, type Page, type Paging, withId } from './lists.ts'
import type { Rights } from './rights.ts'

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
  /** What was read. */
  readonly #seen: QueryClient
  /** The versions of the records that were read, by their paths. */
  readonly #etags = new Map<string, string>()
  /** What reads lists. */
  readonly #lists: Lists

  constructor(api: Api, shape: AppShape, rights: Rights, seen: QueryClient) {
    this.#api = api
    this.#shape = shape
    this.#rights = rights
    this.#seen = seen
    this.#lists = new Lists(async (name, options) => {
      const result = await this.calls(name).list(options)
      this.#done(result, name, 'list')
      return result as Page
    })
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
      getList: async (name, params) => this.#lists.list(this.resource(name), params) as never,
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
    const { body, later } = parted(values, this.resource(name).writable[id ? 'update' : 'create'])
    const etag = options.ifMatch ?? this.#etags.get(`${name}/${id}`)
    const result =
      id === undefined
        ? await calls.create(body, options)
        : await calls.update(id, body, { ...options, ...(etag && { ifMatch: etag }) })
    if (result.ok && result.etag) this.#etags.set(`${name}/${id}`, result.etag)
    else this.#etags.delete(`${name}/${id}`)
    const record = withId(this.#done(result, name, id === undefined ? 'create' : 'update'))
    if (id !== undefined && later) return this.save(name, id, later, {})
    // Else the form would show what was before until it is read again.
    this.#seen.setQueryData([name, 'getOne', { id: String(record.id) }], record)
    return record
  }

  async remove(name: string, id: string): Promise<void> {
    this.#done(await this.calls(name).remove(id), name, 'delete')
  }

  /** Every record of a list, page by page, for as long as it is asked for more. */
  pages(name: string, wanted: Values): AsyncGenerator<RaRecord[]> {
    return this.#lists.pages(this.resource(name), wanted)
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

/**
 * What a write sends. A form says of files that they are there, not that they are gone: that is said in a write of its own. All
 * else is JSON in it, as it is without files.
 */
function parted(
  values: Values,
  fields: readonly Field[],
): { readonly body: Values; readonly later?: Values } {
  const entries = Object.entries(values)
  if (!entries.some(([, value]) => hasFile(value))) return { body: values }
  const isOfFiles = (name: string) => fields.some((one) => one.name === name && one.kind === 'file')
  const gone = entries.filter(([name, value]) => value === null && isOfFiles(name))
  const sent = entries.filter((one) => !gone.includes(one))
  const body = sent.map(([name, value]) => [name, isOfFiles(name) ? value : jsonPart(value)])
  return {
    body: Object.fromEntries(body),
    ...(gone.length > 0 && { later: Object.fromEntries(gone) }),
  }
}

const jsonPart = (value: unknown) => new Blob([JSON.stringify(value)], { type: 'application/json' })
