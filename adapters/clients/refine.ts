/**
 * `fieldgate/refine`: the data provider and the auth provider of refine, over `fieldgate/client`. It imports nothing of
 * refine.
 *
 * @module
 */

import type { ClientError } from '../../src/client/index.ts'
import {
  type Aborting,
  type AnyClient,
  accountsAt,
  type Chosen,
  chosenIn,
  done,
  type NamedRecord,
  OPERATORS,
  pageOf,
  recordsAt,
  refusal,
  shown,
  storedName,
  thoseThere,
  type Values,
  withId,
  withoutIds,
} from './records.ts'

export type { AnyClient, NamedRecord } from './records.ts'

/** Options of `refineData`. */
export interface RefineDataOptions {
  /** The mounts of resources, by their names. Default: the name after a slash, so `cities` is at `/cities`. */
  readonly mounts?: Readonly<Record<string, string>>
  /** What `useApiUrl` returns. Default: an empty string, the page's own origin. */
  readonly url?: string
}

/** The id of a record, as refine has it. The provider gives strings. */
export type BaseKey = string | number

/** A condition of a list: on a field, or on several of which all must hold. */
export interface RefineFilter {
  readonly field?: string
  readonly operator: string
  // refine has no type for it either.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly value: any
}

interface Asked {
  readonly resource: string
  readonly meta?: { readonly queryContext?: Aborting } & Chosen
}
interface ListParams extends Asked {
  readonly pagination?: {
    readonly currentPage?: number
    readonly pageSize?: number
    readonly mode?: 'client' | 'server' | 'off'
  }
  readonly sorters?: readonly { readonly field: string; readonly order: 'asc' | 'desc' }[]
  readonly filters?: readonly RefineFilter[]
}
interface One extends Asked {
  readonly id: BaseKey
}
interface Given<V> {
  readonly variables: V
}

/** The data provider, as refine calls it. Each call rejects with refine's `HttpError` if the server refuses. */
export interface RefineData {
  getList<R extends object>(params: ListParams): Promise<{ data: R[]; total: number }>
  getOne<R extends object>(params: One): Promise<{ data: R }>
  /** Records that do not exist are left out. */
  getMany<R extends object>(
    params: Asked & { readonly ids: readonly BaseKey[] },
  ): Promise<{ data: R[] }>
  create<R extends object, V>(params: Asked & Given<V>): Promise<{ data: R }>
  update<R extends object, V>(params: One & Given<V>): Promise<{ data: R }>
  deleteOne<R extends object, V>(params: One & Partial<Given<V>>): Promise<{ data: R }>
  getApiUrl(): string
}

/** refine's page by default. */
const PAGE = 10
/** More than a list without pages has. */
const ALL = 1_000_000

/**
 * The data provider.
 *
 * ```tsx
 * const api = createClient<typeof app>('https://api.example.com')
 * const admin = <Refine dataProvider={refineData(api)} authProvider={refineAuth(api)}>…</Refine>
 * ```
 */
export function refineData(
  api: AnyClient,
  { mounts = {}, url = '' }: RefineDataOptions = {},
): RefineData {
  const at = recordsAt(api, mounts)
  const provider = {
    async getList({ resource, pagination = {}, sorters = [], filters = [], meta }: ListParams) {
      const { currentPage = 1, pageSize = PAGE, mode = 'server' } = pagination
      const wanted = { ...narrowed(filters), ...ordered(sorters), ...asked(meta) }
      const isPaged = mode === 'server'
      const page = isPaged ? { page: currentPage, perPage: pageSize } : { page: 1, perPage: ALL }
      const { data, paging } = await pageOf(at(resource), wanted, page)
      const seen = (page.page - 1) * page.perPage + data.length
      // Without a total, one record more keeps the button to the next page.
      const total = paging?.totalRecords ?? seen + (paging?.hasMore === true ? 1 : 0)
      return { data: data.map(withId), total: isPaged ? total : data.length }
    },
    getOne: async ({ resource, id, meta }: One) =>
      shown(await at(resource).get(String(id), asked(meta))),
    async getMany({ resource, ids, meta }: Asked & { readonly ids: readonly BaseKey[] }) {
      return { data: await thoseThere(at(resource), ids, { signal: meta?.queryContext?.signal }) }
    },
    create: async ({ resource, variables }: Asked & Given<object>) =>
      shown(await at(resource).create(withoutIds(variables))),
    update: async ({ resource, id, variables }: One & Given<object>) =>
      shown(await at(resource).update(String(id), withoutIds(variables))),
    async deleteOne({ resource, id }: One) {
      done(await at(resource).remove(String(id)))
      return { data: { id } }
    },
    getApiUrl: () => url,
  }
  // refine's callers choose the type of a record, which nothing can check here.
  return provider as unknown as RefineData
}

/** The conditions as the client takes them. Throws a `TypeError` for what the server does not have. */
function narrowed(filters: readonly RefineFilter[]): Values {
  const where: Record<string, unknown> = {}
  let search: Values = {}
  for (const { field = '', operator, value } of filters.flatMap(alone)) {
    // An input that was cleared has no condition.
    if (value === undefined || value === '') continue
    if (field === 'q') search = { search: String(value) }
    else if (operator === 'or') Object.assign(where, alternatives(value, where.or))
    else
      where[storedName(field)] = joined(where[storedName(field)] as Values, field, operator, value)
  }
  return { ...(Object.keys(where).length > 0 && { where }), ...search }
}

function alternatives(filters: readonly RefineFilter[], earlier: unknown): Values {
  if (earlier) throw new TypeError(`refineData: the server takes one 'or'`)
  const given = filters.flatMap((one) => {
    const { where, search } = narrowed([one])
    if (search) throw new TypeError(`refineData: 'q' is a search, which can't be one of an 'or'`)
    return where ?? []
  })
  // The server takes two at least.
  const or = given.length === 1 ? [...given, ...given] : given
  return or.length > 0 ? { or } : {}
}

/** The filters on single fields that must all hold. */
function alone(filter: RefineFilter): readonly RefineFilter[] {
  return filter.operator === 'and' ? (filter.value as RefineFilter[]).flatMap(alone) : [filter]
}

function joined(
  earlier: Values = {},
  ...[field, operator, value]: Parameters<typeof conditionsOf>
): Values {
  const conditions = conditionsOf(field, operator, value)
  const twice = Object.keys(conditions).find((name) => name in earlier)
  if (twice) throw new TypeError(`refineData: two filters with '${twice}' on '${field}'`)
  return { ...earlier, ...conditions }
}

function conditionsOf(field: string, operator: string, value: unknown): Values {
  if (OPERATORS.has(operator)) return { [operator]: value }
  if (operator === 'null') return { eq: null }
  if (operator === 'nnull') return { ne: null }
  if (operator === 'between' && Array.isArray(value)) return { gte: value[0], lte: value[1] }
  throw new TypeError(
    `refineData: the server has no filter '${operator}' on '${field}'. To search, filter by 'q'.`,
  )
}

function ordered(sorters: NonNullable<ListParams['sorters']>): Values {
  const keys = sorters.map(({ field, order }) => (order === 'desc' ? '-' : '') + storedName(field))
  return keys.length > 0 ? { sort: keys } : {}
}

function asked(meta: Asked['meta']): Aborting & Chosen {
  return { ...chosenIn(meta), signal: meta?.queryContext?.signal }
}

/** Whether what the user wanted came about. */
// No interface: refine's own type takes any other member too.
export type RefineOutcome = {
  success: boolean
  redirectTo?: string
  error?: Error
}

/** The auth provider, as refine calls it. No call rejects but `getPermissions`. */
export interface RefineAuth {
  /**
   * Signs in with `email`, `username` or `identifier`, and `password`. Other members go to the server as they are, such
   * as the `ticket` of a second step.
   */
  login(params: Values): Promise<RefineOutcome>
  /** Signs out, here even if the server cannot be reached. */
  logout(params?: unknown): Promise<RefineOutcome>
  /** If the server cannot be reached, the user stays signed in. */
  check(params?: unknown): Promise<{
    authenticated: boolean
    logout?: boolean
    redirectTo?: string
    error?: Error
  }>
  /** Signs out on a 401. */
  onError(error: unknown): Promise<{ logout?: boolean; redirectTo?: string; error?: ClientError }>
  /** The user with `id` and `name`; null for an anonymous user. */
  getIdentity(params?: unknown): Promise<NamedRecord | null>
  /** The user's `role`: a name, or a list of names. */
  getPermissions(params?: unknown): Promise<unknown>
}

/** Options of `refineAuth`. */
export interface RefineAuthOptions {
  /** The mount of the auth router. Default `/auth`. */
  readonly mount?: string
  /** The field that holds the roles. Default `role`. */
  readonly roleField?: string
  /** The page that signs in. Default `/login`. */
  readonly loginPath?: string
}

/** The auth provider. It needs the route `me` of the auth router. */
export function refineAuth(
  api: AnyClient,
  { mount = '/auth', roleField = 'role', loginPath = '/login' }: RefineAuthOptions = {},
): RefineAuth {
  const accounts = accountsAt(api, mount)
  const leaving = { logout: true, redirectTo: loginPath }
  return {
    async login({ email, username, identifier = email ?? username, remember: _, ...body }) {
      const signedIn = await accounts.login({ identifier, ...body })
      return signedIn.ok
        ? { success: true, redirectTo: '/' }
        : { success: false, error: refusal(signedIn.error) }
    },
    async logout() {
      await accounts.logout()
      return { success: true, redirectTo: loginPath }
    },
    async check() {
      const user = await accounts.me()
      if (user.ok || user.error.status !== 401) return { authenticated: true }
      return { authenticated: false, ...leaving, error: refusal(user.error) }
    },
    async onError(error) {
      const isOver = (error as { statusCode?: unknown } | undefined)?.statusCode === 401
      return isOver ? { ...leaving, error: error as ClientError } : {}
    },
    async getIdentity() {
      const user = await accounts.me()
      if (!user.ok) return null
      const { name = user.data.email } = user.data
      return { ...withId(user.data), name }
    },
    getPermissions: async () => done(await accounts.me())[roleField],
  }
}
