/**
 * Lists, read page by page: by numbers, or by cursors.
 *
 * @module
 */

import type { RaRecord } from 'ra-core'
import { pageOf, type Records } from '../../../../adapters/clients/records.ts'
import type { Outcome, Values } from './data.ts'
import type { Resource } from './document.ts'
import { type Field, nameOf } from './fields.ts'
import { type Narrowing, wantedOf } from './rules.ts'

/** A page as it was read. */
export type Page = Extract<Outcome<RaRecord[]>, { readonly ok: true }>

/** What a page says of those around it. */
export interface Paging {
  readonly pageSize?: number
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

/** A page as react-admin takes it. */
interface Listed {
  readonly data: readonly RaRecord[]
  readonly total?: number
  readonly pageInfo?: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean }
}

/** Reads lists by `ask`, which throws what is refused. */
export class Lists {
  readonly #ask: (name: string, options: Values) => Promise<Page>
  /** Where pages begin, by what is listed. */
  readonly #cursors = new Map<string, (string | undefined)[]>()

  constructor(ask: (name: string, options: Values) => Promise<Page>) {
    this.#ask = ask
  }

  async list(resource: Resource, params: ListParams): Promise<Listed> {
    const { filter = {}, sort, pagination = { page: 1, perPage: 25 }, signal } = params
    const wanted = {
      ...wantedOf(filter, resource),
      ...(sort &&
        resource.sortable.has(sort.field) && {
          sort: (sort.order === 'DESC' ? '-' : '') + sort.field,
        }),
      ...(resource.expandable.length > 0 && { expand: resource.expandable.filter(isShort) }),
    }
    if (resource.isByCursor) return this.#byCursor(resource.name, wanted, pagination, signal)
    const list = (options: Values) => this.#ask(resource.name, { ...options, signal })
    // The router may have smaller pages than are asked for.
    const { data, paging } = await pageOf({ list } as unknown as Records, wanted, pagination)
    return listed(data as unknown as RaRecord[], paging, pagination.page)
  }

  async #byCursor(
    name: string,
    wanted: Values,
    { page, perPage }: { readonly page: number; readonly perPage: number },
    signal: AbortSignal | undefined,
  ): Promise<Listed> {
    const starts = this.#startsOf(JSON.stringify([name, wanted, perPage]))
    for (let at = 1; ; at += 1) {
      // After a reload, the pages before it are asked for their ends.
      if (at < page && starts[at + 1]) continue
      const { data, paging } = await this.#from(starts[at], name, wanted, perPage, signal)
      if (paging.nextCursor) starts[at + 1] = paging.nextCursor
      if (at >= page || !paging.nextCursor) return listed(data, paging, at)
    }
  }

  /** Up to `count` records after a cursor: the router may have smaller pages. */
  async #from(
    start: string | undefined,
    name: string,
    wanted: Values,
    count: number,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly data: RaRecord[]; readonly paging: Paging }> {
    const data: RaRecord[] = []
    let paging: Paging = start === undefined ? {} : { nextCursor: start }
    do {
      const options = {
        ...wanted,
        pageSize: count - data.length,
        cursor: paging.nextCursor,
        signal,
      }
      const page = await this.#ask(name, options)
      paging = page.pagination as Paging
      data.push(...page.data)
    } while (paging.nextCursor && data.length < count)
    return { data, paging }
  }

  #startsOf(key: string): (string | undefined)[] {
    const starts = this.#cursors.get(key) ?? []
    this.#cursors.set(key, starts)
    return starts
  }

  /** Every record of a list, page by page. */
  async *pages(resource: Resource, wanted: Values): AsyncGenerator<RaRecord[]> {
    let next: Values | undefined = { pageSize: 100, ...(!resource.isByCursor && { page: 1 }) }
    while (next) {
      const result = await this.#ask(resource.name, { ...wanted, ...next })
      yield result.data
      const { hasMore, nextCursor, currentPage, totalPages } = result.pagination as Paging
      const isLast = totalPages === undefined ? !hasMore : (currentPage ?? 1) >= totalPages
      const { page, pageSize } = next as { page?: number; pageSize: number }
      next = isLast
        ? undefined
        : { pageSize, ...(nextCursor ? { cursor: nextCursor } : { page: (page ?? 1) + 1 }) }
    }
  }
}

const isShort = (path: string) => !path.includes('.')

function listed(records: readonly RaRecord[], paging: Paging = {}, page: number): Listed {
  const { totalRecords: total, hasMore = false } = paging
  const data = records.map(withId)
  if (total !== undefined) return { data, total }
  return { data, pageInfo: { hasNextPage: hasMore, hasPreviousPage: page > 1 } }
}

/** Where a record keeps a field `id` of its own: react-admin has the id there. */
const OWN = ' id'

/** A record under its id, as react-admin takes it. */
export function withId(record: RaRecord | Values): RaRecord {
  const { _id = record.id, id } = record as RaRecord
  return { ...record, ...('_id' in record && 'id' in record && { [OWN]: id }), id: _id }
}

/** A record of react-admin's as it was read. */
export function storedOf(record: RaRecord): RaRecord {
  const { [OWN]: id, ...others } = record
  return OWN in record ? { ...others, id } : record
}

/** Rows as RFC 4180 has them. Spreadsheets take some beginnings for formulas. */
export function csvOf(fields: readonly Field[], rows: readonly Values[]): string {
  const cell = (value: unknown): string => {
    const isRecord = value instanceof Object && ('id' in value || '_id' in value)
    const plain = value instanceof Object ? JSON.stringify(value) : String(value ?? '')
    const text = isRecord ? nameOf(value) : plain
    const isRun = typeof value !== 'number' && /^[=+\-@\t\r\n\0＝＋－＠]/.test(text)
    const safe = isRun ? `'${text}` : text
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  const lines = rows.map((row) => fields.map(({ name }) => cell(row[name])))
  return [fields.map(({ name }) => name), ...lines].map((line) => `${line.join(',')}\r\n`).join('')
}
