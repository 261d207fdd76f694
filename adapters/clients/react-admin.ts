/**
 * `fieldgate/react-admin`: the data provider and the auth provider of react-admin, over `fieldgate/client`. Choose it for an
 * admin interface of your app. It imports nothing of react-admin.
 *
 * @module
 */

import { ClientError, type Result } from '../../src/client/index.ts'
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
  type Records,
  recordsAt,
  refusal,
  type Stored,
  shown,
  storedName,
  thoseThere,
  type Values,
  withId,
  withoutIds,
} from './records.ts'

export type { AnyClient, NamedRecord } from './records.ts'

/** The id of a record, as react-admin has it. The provider gives strings. */
export type Identifier = string | number

/** Options of `reactAdminData`. */
export interface ReactAdminDataOptions {
  /** The mounts of resources, by their names. Default: the name after a slash, so `cities` is at `/cities`. */
  readonly mounts?: Readonly<Record<string, string>>
}

interface Asked extends Aborting {
  /** What is returned of records. */
  readonly meta?: Chosen
}
interface ListParams extends Asked {
  readonly pagination?: { readonly page: number; readonly perPage: number }
  readonly sort?: { readonly field: string; readonly order: 'ASC' | 'DESC' }
  /** Conditions by field, and `q`, the search term. */
  readonly filter?: Values
}
interface ReferenceParams extends ListParams {
  readonly target: string
  readonly id: Identifier
}
interface One extends Asked {
  readonly id: Identifier
}
interface Many extends Aborting {
  readonly ids: readonly Identifier[]
}
interface UpdateParams extends One {
  readonly data: object
  readonly previousData?: object
}
interface ListOf<R> {
  data: R[]
  /** The number of records, where the router counts them. */
  total?: number
  pageInfo?: { hasNextPage: boolean; hasPreviousPage: boolean }
}

/** The data provider, as react-admin calls it. Each call rejects with a `ClientError` if the server refuses. */
export interface ReactAdminData {
  getList<R extends object>(resource: string, params: ListParams): Promise<ListOf<R>>
  getOne<R extends object>(resource: string, params: One): Promise<{ data: R }>
  /** Records that do not exist are left out. */
  getMany<R extends object>(resource: string, params: Many): Promise<{ data: R[] }>
  getManyReference<R extends object>(resource: string, params: ReferenceParams): Promise<ListOf<R>>
  create<_ extends object, R extends object>(
    resource: string,
    params: { readonly data: object },
  ): Promise<{ data: R }>
  /** Sends the fields that differ from `previousData`. */
  update<R extends object>(resource: string, params: UpdateParams): Promise<{ data: R }>
  updateMany(
    resource: string,
    params: Many & { readonly data: object },
  ): Promise<{ data: Identifier[] }>
  delete<R extends object>(
    resource: string,
    params: One & { readonly previousData?: object },
  ): Promise<{ data: R }>
  deleteMany(resource: string, params: Many): Promise<{ data: Identifier[] }>
  /** react-admin aborts requests whose response is no longer needed. */
  readonly supportAbortSignal: true
}

/**
 * The data provider.
 *
 * ```tsx
 * const api = createClient<typeof app>('https://api.example.com')
 * const admin = <Admin dataProvider={reactAdminData(api)} authProvider={reactAdminAuth(api)}>…</Admin>
 * ```
 */
export function reactAdminData(
  api: AnyClient,
  { mounts = {} }: ReactAdminDataOptions = {},
): ReactAdminData {
  const at = recordsAt(api, mounts)

  const provider = {
    supportAbortSignal: true,
    getList: (resource: string, params: ListParams) => list(at(resource), params),
    getManyReference: (resource: string, { target, id, ...params }: ReferenceParams) =>
      list(at(resource), { ...params, filter: { ...params.filter, [target]: id } }),
    getOne: async (resource: string, { id, signal, meta }: One) =>
      shown(await at(resource).get(String(id), { ...chosenIn(meta), signal })),
    async getMany(resource: string, { ids, signal }: Many) {
      return { data: await thoseThere(at(resource), ids, { signal }) }
    },
    create: async (resource: string, { data }: { readonly data: object }) =>
      shown(await at(resource).create(sent(data))),
    async update(resource: string, { id, data, previousData = {} }: UpdateParams) {
      const changes = difference(sent(data), previousData)
      const records = at(resource)
      // A PATCH without fields is a 400.
      const isSame = Object.keys(changes).length === 0
      return shown(await (isSame ? records.get(String(id)) : records.update(String(id), changes)))
    },
    async updateMany(resource: string, { ids, data }: Many & { readonly data: object }) {
      for (const id of ids) done(await at(resource).update(String(id), sent(data)))
      return { data: [...ids] }
    },
    async delete(resource: string, { id, previousData }: One & { readonly previousData?: object }) {
      done(await at(resource).remove(String(id)))
      return { data: { ...previousData, id } }
    },
    async deleteMany(resource: string, { ids }: Many) {
      for (const id of ids) done(await at(resource).remove(String(id)))
      return { data: [...ids] }
    },
  }
  // react-admin's callers choose the type of a record, which nothing can check here.
  return provider as unknown as ReactAdminData
}

async function list(
  records: Records,
  { pagination = { page: 1, perPage: 100 }, signal, meta, ...params }: ListParams,
): Promise<ListOf<NamedRecord>> {
  const wanted = { ...narrowed(params), ...chosenIn(meta), signal }
  const { data, paging } = await pageOf(records, wanted, pagination)
  const total = paging?.totalRecords
  const pageInfo = { hasNextPage: paging?.hasMore === true, hasPreviousPage: pagination.page > 1 }
  return { data: data.map(withId), ...(total === undefined ? { pageInfo } : { total }) }
}

function narrowed({ filter = {}, sort }: ListParams): Values {
  const { q, ...conditions } = filter
  const where = Object.entries(conditions).flatMap(conditionsOn)
  // Hooks and lists of react-admin ask for an order by `id` unless the user chose one: the router's own order then.
  const isChosen = sort && sort.field !== 'id'
  return {
    ...(where.length > 0 && { where: Object.fromEntries(where) }),
    ...(q !== undefined && q !== '' && { search: q }),
    ...(isChosen && { sort: (sort.order === 'DESC' ? '-' : '') + sort.field }),
  }
}

/** The conditions on a field, or on those inside of it: react-admin nests `author.name`, as it does `population.gte`. */
function conditionsOn([field, value]: [string, unknown]): [string, unknown][] {
  const isInside =
    value?.constructor === Object && !Object.keys(value).some((name) => OPERATORS.has(name))
  if (!isInside) return [[storedName(field), value]]
  return Object.entries(value).flatMap(([name, inner]) => conditionsOn([`${field}.${name}`, inner]))
}

/** The values of a form as the client takes them: without ids, and files as they were chosen. */
function sent(data: object): Values {
  const values = Object.entries(withoutIds(data)).map(([field, value]) => [
    field,
    Array.isArray(value) ? value.map(fileOf) : fileOf(value),
  ])
  return Object.fromEntries(values)
}

/** The file of a FileInput or ImageInput; other values as they are. */
function fileOf(value: unknown): unknown {
  return value instanceof Object && 'rawFile' in value ? value.rawFile : value
}

/** The fields whose values are not those of before. Files are always new. */
function difference(values: Values, before: Values | object): Values {
  const earlier = new Map(Object.entries(before))
  const changed = Object.entries(values).filter(
    ([field, value]) =>
      [value].flat().some((one) => one instanceof Blob) ||
      JSON.stringify(value ?? null) !== JSON.stringify(earlier.get(field) ?? null),
  )
  return Object.fromEntries(changed)
}

/** Who is signed in, as react-admin shows it. */
export interface ReactAdminIdentity {
  readonly id: string
  readonly fullName?: string
  readonly [field: string]: unknown
}

/** The auth provider, as react-admin calls it. */
export interface ReactAdminAuth {
  /**
   * Signs in with `username`, which is an e-mail address or another identifier, and `password`. Other members go to the
   * server as they are, such as the `ticket` of a second step. Rejects with a `ClientError`.
   */
  login(params: Values): Promise<void>
  /** Signs out, here even if the server cannot be reached. */
  logout(params?: unknown): Promise<void>
  /** Rejects if the user is not signed in. If the server cannot be reached, they stay signed in. */
  checkAuth(params?: unknown): Promise<void>
  /** Rejects on a 401, so that react-admin signs out. */
  checkError(error: unknown): Promise<void>
  getIdentity(): Promise<ReactAdminIdentity>
  /** The user's `role`: a name, or a list of names. */
  getPermissions(params?: unknown): Promise<unknown>
}

/** Options of `reactAdminAuth`. */
export interface ReactAdminAuthOptions {
  /** The mount of the auth router. Default `/auth`. */
  readonly mount?: string
  /** The field that holds the roles. Default `role`. */
  readonly roleField?: string
  /** How a user is called. Default: the name, else the e-mail address. */
  readonly fullName?: (user: Values) => string | undefined
}

/** The auth provider. It needs the route `me` of the auth router. */
export function reactAdminAuth(
  api: AnyClient,
  { mount = '/auth', roleField = 'role', fullName = nameOf }: ReactAdminAuthOptions = {},
): ReactAdminAuth {
  const accounts = accountsAt(api, mount)
  let asked: Promise<Result<Stored>> | undefined
  /** The user. Calls at the same time, which each page makes, share one request. */
  function me(): Promise<Result<Stored>> {
    asked ??= accounts.me().finally(() => {
      asked = undefined
    })
    return asked
  }
  return {
    async login({ username, ...body }) {
      done(await accounts.login(username === undefined ? body : { identifier: username, ...body }))
    },
    async logout() {
      await accounts.logout()
    },
    async checkAuth() {
      const user = await me()
      if (!user.ok && user.error.status === 401) throw refusal(user.error)
    },
    async checkError(error) {
      if (error instanceof ClientError && error.status === 401) throw error
    },
    async getIdentity() {
      const user = done(await me())
      const name = fullName(user)
      return { ...withId(user), ...(name !== undefined && { fullName: name }) }
    },
    getPermissions: async () => done(await me())[roleField],
  }
}

function nameOf({ name, email }: Values): string | undefined {
  return [name, email].find((value) => typeof value === 'string')
}
