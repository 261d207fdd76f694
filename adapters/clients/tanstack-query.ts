/**
 * `fieldgate/tanstack-query`: queries and mutations of TanStack Query for the calls of `fieldgate/client`. What it returns
 * fits the hooks of React, Vue, Solid, Svelte and Angular alike; it imports nothing of TanStack.
 *
 * @module
 */

import {
  type CallsFor,
  type Changes,
  type Choice,
  ClientError,
  type ClosedCalls,
  type Condition,
  type Conditions,
  type Created,
  type Cut,
  type Expandable,
  type Group,
  type GroupOptions,
  type ListOptions,
  type PaginationOf,
  type Result,
  type Selectable,
  type Shown,
  type SortedBy,
  type WriteOptions,
  type Written,
} from '../../src/client/index.ts'
import { following } from '../../src/client/lists/pages.ts'
import type { AnyRecords, ChosenBy } from '../../src/client/shapes.ts'

/** What names a query in the cache. */
export type QueryKey = readonly unknown[]

/** A page of records, or a whole list, which has no pagination. */
export interface RecordList<
  T extends AnyRecords,
  P = PaginationOf<T['options']> | undefined,
  R = Shown<T>,
> {
  readonly data: R[]
  readonly pagination: P
}

/** What asks for the next page. */
export interface PageParam {
  readonly page?: number | undefined
  readonly cursor?: string | undefined
}

/** A query, as options for `useQuery`, `fetchQuery` and the like. */
export interface RecordQuery<D> {
  readonly queryKey: QueryKey
  /** Rejects with a `ClientError`. */
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<D>
  /** Sharing makes copies of records, which `ifMatch` would not know. */
  readonly structuralSharing: false
}

/** A query in pages, as options for `useInfiniteQuery`, `fetchInfiniteQuery` and the like. */
export interface PagesQuery<D> extends Omit<RecordQuery<D>, 'queryFn'> {
  readonly queryFn: (context: {
    readonly signal: AbortSignal
    readonly pageParam: PageParam
  }) => Promise<D>
  readonly initialPageParam: PageParam
  readonly getNextPageParam: (last: D) => PageParam | undefined
}

/** The part of a `QueryClient` that mutations use. */
interface Invalidating {
  readonly client: { invalidateQueries(filters: { readonly queryKey: QueryKey }): Promise<void> }
}

/** A mutation, as options for `useMutation` and the like. */
export interface RecordMutation<V, D> {
  /** Rejects with a `ClientError`. */
  readonly mutationFn: (variables: V) => Promise<D>
  /** Marks every query of these records as stale, also if the write has failed. */
  readonly onSettled: (
    data: unknown,
    error: unknown,
    variables: unknown,
    result: unknown,
    context: Invalidating,
  ) => Promise<void>
}

/** The queries and mutations for the records of a mount. */
export interface RecordQueries<T extends AnyRecords> {
  /** Starts the key of every query of these records. */
  readonly queryKey: QueryKey
  /** A list, or one page of it. */
  list<S extends Selectable<T> = never, E extends Expandable<T> = never>(
    options?: ListOptions<T> & Choice<T, S, E>,
  ): RecordQuery<RecordList<T, PaginationOf<T['options']> | undefined, ChosenBy<Shown<T>, S, E>>>
  /** Every page, one after the other; 100 records each, unless `pageSize` says otherwise. */
  pages<S extends Selectable<T> = never, E extends Expandable<T> = never>(
    options?: Conditions<T> & Choice<T, S, E>,
  ): PagesQuery<RecordList<T, PaginationOf<T['options']>, ChosenBy<Shown<T>, S, E>>>
  /** Groups of records, with what is computed of each. */
  aggregate<const A extends GroupOptions<T>>(
    options: A & SortedBy<A>,
  ): RecordQuery<{ readonly data: Group<T, A>[]; readonly pagination: Cut | undefined }>
  /** One record, or what is chosen of it. */
  get<S extends Selectable<T> = never, E extends Expandable<T> = never>(
    id: string,
    choice?: Choice<T, S, E>,
  ): RecordQuery<ChosenBy<Shown<T>, S, E>>
  /** Stores a record: `mutate(values)`. */
  create(options?: WriteOptions): RecordMutation<Created<T>, Written<T>>
  /** Changes a record: `mutate({ id, changes, ifMatch? })`. */
  update(
    options?: WriteOptions,
  ): RecordMutation<Condition & { readonly id: string; readonly changes: Changes<T> }, Written<T>>
  /** Deletes a record: `mutate({ id, ifMatch? })`. */
  remove(): RecordMutation<Condition & { readonly id: string }, string>
}

/** The calls as this file makes them; `RecordQueries` says what each takes and gives. */
interface Calls {
  list(options: object): Promise<Result<unknown, object>>
  aggregate(options: object): Promise<Result<unknown, object>>
  get(id: string, options: object): Promise<Result<unknown>>
  create(values: never, options?: object): Promise<Result<unknown>>
  update(id: string, changes: never, options: object): Promise<Result<unknown>>
  remove(id: string, options: object): Promise<Result<string>>
}

type Signal = { readonly signal: AbortSignal }

/** As many as `pages` of the client asks for. */
const PAGE_SIZE = 100

/**
 * The queries and mutations for the records of a mount. `queryKey` starts the keys of its queries: give each mount one of
 * its own.
 *
 * ```tsx
 * const cities = recordQueries(['cities'], api('/cities'))
 *
 * const found = useQuery(cities.list({ where: { country: 'NO' } }))
 * const rename = useMutation(cities.update())
 * rename.mutate({ id, changes: { name: 'Oslo' } })
 * ```
 */
export function recordQueries<T extends AnyRecords>(
  queryKey: QueryKey,
  calls: CallsFor<T>,
): Omit<RecordQueries<T>, ClosedCalls<T>> {
  // What each call takes and gives is checked by the types alone.
  return optionsOf(queryKey, calls as unknown as Calls) as RecordQueries<T>
}

function optionsOf(queryKey: QueryKey, calls: Calls): object {
  const query = <F>(asked: QueryKey, queryFn: F) => ({
    structuralSharing: false,
    queryKey: [...queryKey, ...asked],
    queryFn,
  })
  const mutation = <V>(write: (variables: V) => Promise<Result<unknown>>) => ({
    onSettled: (_: unknown, __: unknown, ___: unknown, ____: unknown, { client }: Invalidating) =>
      client.invalidateQueries({ queryKey }),
    mutationFn: async (variables: V) => dataOf(await write(variables)),
  })
  async function page(asked: Promise<Result<unknown, object>>) {
    const result = await asked
    return { data: dataOf(result), pagination: result.ok ? result.pagination : undefined }
  }
  return {
    queryKey,
    list: (options: object = {}) =>
      query(['list', options], ({ signal }: Signal) => page(calls.list({ ...options, signal }))),
    pages: (options: object = {}) => ({
      ...query(['pages', options], ({ signal, pageParam }: Signal & { pageParam: PageParam }) =>
        page(calls.list({ pageSize: PAGE_SIZE, ...options, ...pageParam, signal })),
      ),
      initialPageParam: {},
      getNextPageParam: ({ pagination }: Awaited<ReturnType<typeof page>>) =>
        following({}, { ...pagination }),
    }),
    aggregate: (options: object) =>
      query(['aggregate', options], ({ signal }: Signal) =>
        page(calls.aggregate({ ...options, signal })),
      ),
    get: (id: string, choice?: object) =>
      query(['get', id, ...(choice ? [choice] : [])], async ({ signal }: Signal) =>
        dataOf(await calls.get(id, { ...choice, signal })),
      ),
    create: (options?: WriteOptions) => mutation((values: never) => calls.create(values, options)),
    update: (options?: WriteOptions) =>
      mutation(({ id, changes, ...condition }: { id: string; changes: never }) =>
        calls.update(id, changes, { ...options, ...condition }),
      ),
    remove: () => mutation(({ id, ...condition }: { id: string }) => calls.remove(id, condition)),
  }
}

/**
 * The data of a result; throws a `ClientError` if it is a failure. For queries and mutations of your own:
 *
 * ```tsx
 * const login = useMutation({ mutationFn: async (body: Body) => dataOf(await api('/auth').login(body)) })
 * ```
 */
export function dataOf<D>(result: Result<D, unknown>): D {
  if (!result.ok) throw new ClientError(result.error)
  return result.data
}

/**
 * Tries again, three times at most, only what may succeed later: a call without a response, a 429 and a 5xx, after as many
 * seconds as the server says.
 *
 * ```tsx
 * const queryClient = new QueryClient({ defaultOptions: { queries: retries } })
 * ```
 */
export const retries: {
  readonly retry: (failureCount: number, error: unknown) => boolean
  readonly retryDelay: (failureCount: number, error: unknown) => number
} = {
  retry: (failureCount, error) => failureCount < 3 && mayPass(error),
  retryDelay: (failureCount, error) => {
    const seconds = error instanceof ClientError ? error.retryAfter : undefined
    // TanStack's own delay where the server says nothing.
    return seconds === undefined ? Math.min(1000 * 2 ** failureCount, 30_000) : seconds * 1000
  },
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false
  return error.status === 0 || error.status === 429 || error.status >= 500
}
