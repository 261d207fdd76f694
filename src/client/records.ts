import type { Cut, Group, GroupOptions, SortedBy } from './lists/groups.ts'
import type { HistoryOptions, HistoryPage, RecordChange } from './lists/history.ts'
import type {
  Choice,
  Conditions,
  Expandable,
  ListOptions,
  PaginationOf,
  Selectable,
} from './lists/lists.ts'
import type { LiveOptions } from './lists/live.ts'
import type { Listed, Page } from './lists/pages.ts'
import { inUrl, listed, type Refusal, type Wanted } from './lists/query.ts'
import { later } from './load.ts'
import { answer, json, resultOf } from './sending/answers.ts'
import type { CallOptions, Condition, CreateOptions, WriteOptions } from './sending/call-options.ts'
import type { CallRoute } from './sending/calls.ts'
import { checkPath, inPath } from './sending/paths.ts'
import { ClientError, type Result } from './sending/results.ts'
import type { Sending } from './sending/sending.ts'
import type {
  AnyRecords,
  Changes,
  ChosenBy,
  ClosedCalls,
  Created,
  Having,
  Shown,
  Written,
} from './shapes.ts'

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
  list<S extends Selectable<T> = never, E extends Expandable<T> = never>(
    options: ListOptions<T> & Choice<T, S, E>,
  ): Promise<Result<ChosenBy<Shown<T>, S, E>[], PaginationOf<T['options']>>>
  /** Every page, one after the other. Throws a `ClientError` when one cannot be read. */
  pages<S extends Selectable<T> = never, E extends Expandable<T> = never>(
    options?: Conditions<T> & Choice<T, S, E>,
  ): AsyncGenerator<{
    readonly data: ChosenBy<Shown<T>, S, E>[]
    readonly pagination: PaginationOf<T['options']>
  }>
  /** Every record, page by page. Throws a `ClientError` when a page cannot be read. */
  all(options?: Conditions<T>): AsyncGenerator<Shown<T>>
  all<S extends Selectable<T> = never, E extends Expandable<T> = never>(
    options: Conditions<T> & Choice<T, S, E>,
  ): AsyncGenerator<ChosenBy<Shown<T>, S, E>>
  /**
   * The whole list as a file, where the router has an `exportLimit`: `'csv'`, or `'ndjson'` with one JSON object a line. The
   * data is the response, to be read as `data.body` while it arrives, or at once, as by `data.blob()`.
   */
  export(
    format: Having<T, 'exportLimit', 'csv' | 'ndjson'>,
    options?: Omit<Conditions<T>, 'pageSize'> & Choice<T>,
  ): Promise<Result<Response>>
  /**
   * Follows the list, where the router has `live`: calls `onChange` with its records, in the order of `sort`, at first and
   * after each change, also over breaks of the connection. Without `sort` new records come last. Resolves when `signal` has
   * ended it, or the server refuses.
   */
  live<E extends Expandable<T> = never>(
    options: Omit<Conditions<T>, 'pageSize' | 'signal'> & Pick<Choice<T, never, E>, 'expand'>,
    handlers: Having<T, 'live', LiveOptions<ChosenBy<Shown<T>, never, E>>>,
  ): Promise<void>
  /** Groups of records, with what is computed of each, as the router's `aggregates` allow. */
  aggregate<const A extends GroupOptions<T>>(
    options: A & SortedBy<A>,
  ): Promise<Result<Group<T, A>[], Cut>>
  /** One record. */
  get<S extends Selectable<T> = never, E extends Expandable<T> = never>(
    id: string,
    options?: CallOptions & Choice<T, S, E>,
  ): Promise<Result<ChosenBy<Shown<T>, S, E>>>
  /** Stores a record. A `File` or `Blob` among the values is uploaded. */
  create(values: Created<T>, options?: CreateOptions): Promise<Result<W>>
  /** Changes the given fields of a record. */
  update(id: string, changes: Changes<T>, options?: WriteOptions & Condition): Promise<Result<W>>
  /** Deletes a record; the data is the server's message. */
  remove(id: string, options?: CallOptions & Condition): Promise<Result<string>>
  /** What happened to a record, the latest first, where the router has `history`. */
  history(
    id: Having<T, 'history', string>,
    options?: HistoryOptions,
  ): Promise<Result<RecordChange<Shown<T>>[], HistoryPage>>
  /**
   * Makes a record what it was after a change, whose `id` the history has; a removed one is created again. Where the router
   * has `access: { restore }`.
   */
  restore(
    id: Having<T, 'access', string>,
    changeId: string,
    options?: WriteOptions,
  ): Promise<Result<W>>
}

/** The calls for the routes that the router serves. */
export type ServedCalls<T extends AnyRecords> = keyof T['options'] &
  ('access' | 'scope') extends never
  ? RecordsClient<T>
  : Omit<RecordsClient<T, Written<T>>, ClosedCalls<T>>

type Values = Readonly<Record<string, unknown>>

export function recordCalls(path: string, send: Sending, refusal: Refusal): object {
  const at = (id: string) => `${path}/${inPath(id)}`

  const asked = (wanted: Wanted, by: Parameters<typeof listed>[2]) =>
    listed(path, wanted, by, refusal)

  const list = async (wanted: Wanted = {}, call = send.call()): Promise<Listed> =>
    send.shown(await asked(wanted, call.ask), wanted.select ?? wanted.expand)

  async function* pages(wanted?: Wanted): AsyncGenerator<Page> {
    const call = send.call()
    yield* (await later()).pagesOf(wanted, (next) => list(next, call), ClientError)
  }

  /** A call whose code is loaded when it is used. */
  const part =
    (name: 'aggregate' | 'call' | 'export' | 'history' | 'live' | 'restore') =>
    async (...given: never[]): Promise<unknown> => {
      const call = send.call()
      const all = { call, list, send, bodyOf, json, inPath, asked, answer, resultOf, checkPath }
      return (await later())[name](path, given as never, all)
    }

  return {
    list: (wanted?: Wanted) => list(wanted),
    pages,
    aggregate: part('aggregate'),
    async *all(wanted?: Wanted): AsyncGenerator<unknown> {
      for await (const { data } of pages(wanted)) yield* data
    },
    export: part('export'),
    live: part('live'),
    call: part('call'),
    get: async (id: string, { select, expand, ...options }: CallOptions & Wanted = {}) => {
      return send.shown(
        await send.call().ask({
          ...options,
          method: 'GET',
          path: at(id) + inUrl({ select, expand }),
        }),
        select ?? expand,
      )
    },
    async create(values: Values, options?: CreateOptions) {
      const call = send.call()
      return send.one('POST', path, await bodyOf(values), options, call)
    },
    async update(id: string, values: Values, options?: WriteOptions & Condition) {
      const call = send.call()
      return send.one('PATCH', at(id), await bodyOf(values), options, call)
    },
    remove: (id: string, options?: CallOptions & Condition) =>
      send.one('DELETE', at(id), undefined, options),
    history: part('history'),
    restore: part('restore'),
  }
}

/** A form if there are files, else JSON. */
export async function bodyOf(values: Values): Promise<string | FormData> {
  const text = json(values)
  // A value with a `uri` is a file in React Native alone.
  const hasFiles = Object.values(values)
    .flat()
    .some((value) => (value as { readonly uri?: unknown } | null)?.uri ?? value instanceof Blob)
  return hasFiles ? (await later()).formOf(values, text) : text
}
