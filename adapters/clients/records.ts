/** The records of a mount by its name alone, and the client's results as admin interfaces take them. */

import { ClientError, type Failure, type Result } from '../../src/client/index.ts'

/** A client of any app, as `createClient` returns it. */
export type AnyClient = (mount: never) => unknown

/** A record with an `id`, which is its `_id`. */
export interface NamedRecord {
  readonly id: string
  readonly [field: string]: unknown
}

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>

export interface Stored extends Values {
  readonly _id: string
}

/** A record under the id that admin interfaces look for. */
export function withId(record: Stored): NamedRecord {
  return { ...record, id: record._id }
}

export function withoutIds(form: object): Values {
  const { id: _, _id: __, ...values } = form as Values
  return values
}

/** The data of a result; throws the failure. */
export function done<T, P>(result: Result<T, P>): T {
  return succeeded(result).data
}

function succeeded<T, P>(result: Result<T, P>): Extract<Result<T, P>, { ok: true }> {
  if (result.ok) return result
  throw refusal(result.error)
}

/** A failure that forms show beside their fields: react-admin reads `body.errors`, refine `errors` and `statusCode`. */
export function refusal(failure: Failure): ClientError & { readonly statusCode: number } {
  const { status: statusCode, fields: errors } = failure
  const told = errors ? { statusCode, errors, body: { errors } } : { statusCode }
  return Object.assign(new ClientError(failure), told)
}

/** The record of a result as both packages take it; throws the failure. */
export function shown(result: Result<Stored>): { data: NamedRecord } {
  return { data: withId(done(result)) }
}

/** What ends a request whose response is no longer needed. */
export interface Aborting {
  readonly signal?: AbortSignal | undefined
}

/** What is returned of records, in the `meta` of a call: fields by `select`, references to fill in by `expand`. */
export interface Chosen {
  readonly select?: readonly string[]
  readonly expand?: readonly string[]
}

/** The choice in `meta`, which may have anything else too. */
export function chosenIn({ select, expand }: Chosen = {}): Chosen {
  return { ...(Array.isArray(select) && { select }), ...(Array.isArray(expand) && { expand }) }
}

export interface Paging {
  readonly pageSize: number
  readonly totalRecords?: number
  readonly hasMore?: boolean
}
export interface Records {
  list(options: Values): Promise<Result<Stored[], Paging>>
  get(id: string, options?: Aborting & Chosen): Promise<Result<Stored>>
  create(values: Values): Promise<Result<Stored>>
  update(id: string, changes: Values): Promise<Result<Stored>>
  remove(id: string): Promise<Result<string>>
}

/** The records of a resource by its name; its mount is the name after a slash, unless `mounts` has another. */
export function recordsAt(
  api: AnyClient,
  mounts: Readonly<Record<string, string>>,
): (resource: string) => Records {
  // The names are known only at the call, so the app's type cannot check them.
  return (resource) => api((mounts[resource] ?? `/${resource}`) as never) as Records
}

/** The records of one page, which may be larger than the router allows, as that of an export is. */
export async function pageOf(
  records: Records,
  wanted: Values,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<{ data: Stored[]; paging: Paging | undefined }> {
  const ask = async (number: number, pageSize: number) =>
    succeeded(await records.list({ ...wanted, page: number, pageSize }))
  const whole = await ask(page, perPage)
  const size = whole.pagination?.pageSize ?? perPage
  if (size >= perPage) return { data: whole.data, paging: whole.pagination }
  // Several of the router's pages hold the same records.
  const start = (page - 1) * perPage
  const first = Math.floor(start / size)
  const data: Stored[] = []
  let paging: Paging | undefined
  for (let at = first; at * size < start + perPage; at += 1) {
    const next = await ask(at + 1, size)
    paging = next.pagination
    data.push(...next.data)
    if (next.data.length < size) break
  }
  const found = data.slice(start - first * size)
  // Where the last of them is whole, it may have the first records of the next page.
  if (paging && found.length > perPage) paging = { ...paging, hasMore: true }
  return { data: found.slice(0, perPage), paging }
}

/** The server's operators of a condition. */
export const OPERATORS: ReadonlySet<string> = new Set([
  'eq',
  'ne',
  'lt',
  'gt',
  'lte',
  'gte',
  'in',
  'nin',
])

export const storedName = (field: string): string => (field === 'id' ? '_id' : field)

/** The records with these ids, without those that do not exist, as none has a malformed id. */
export async function thoseThere(
  records: Records,
  ids: readonly (string | number)[],
  options: Aborting,
): Promise<NamedRecord[]> {
  const found = await Promise.all(ids.map((id) => records.get(String(id), options)))
  const there = found.filter((result) => result.ok || ![400, 404].includes(result.error.status))
  return there.map((result) => shown(result).data)
}

export interface Accounts {
  login(body: Values): Promise<Result<unknown>>
  logout(): Promise<Result<string>>
  me(): Promise<Result<Stored>>
}

export function accountsAt(api: AnyClient, mount: string): Accounts {
  return api(mount as never) as Accounts
}
