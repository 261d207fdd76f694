/**
 * A list as a file: all of its records, one JSON object a line (`application/x-ndjson`) or as `text/csv` (RFC 4180), sent while
 * they are read. Which of them a client gets is decided by its `Accept` (RFC 9110, 12.5.1); JSON pages are the default.
 */

import { hintsFor } from '../../http/deadline.ts'
import { exportHasNoPages, exportTooLarge, notExported } from '../../http/errors/refusals.ts'
import { GOOD_MS } from '../../http/request/given-auth.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { errorHandler } from '../../http/response/error-handler.ts'
import { bestOf, takesJson } from '../../http/response/qualities.ts'
import { valueAt } from '../../model/model.ts'
import { declaredParts, present, shownPart } from '../../model/versions/present.ts'
import { isFields } from '../../model/writable.ts'
import type { Scalar, SortKey } from '../../ports/store/filter.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields, Projection } from '../../ports/store/records.ts'
import { placeOf } from '../../ports/store/shape.ts'
import { streamOf } from '../../ports/values/bytes.ts'
import { datesAsText } from '../../ports/values/json.ts'
import { isWithin } from '../../ports/values/paths.ts'
import type { Context } from '../engine/route.ts'
import { filledIn, type Reading } from '../read/read.ts'
import type { Population, Resource, View } from '../setup/resource.ts'
import { asksForGroups } from './groups.ts'
import { bodyOf, type ListAction, planFor } from './parse.ts'
import type { ListPlan } from './plan.ts'
import { type Asked, type Asker, askerFor, guardsOf, type Rights, rightsOf } from './rights.ts'
import { refusalOf } from './search.ts'

const FILES = {
  'application/x-ndjson': { extension: 'ndjson', parameters: '', texts: (): TextOf => lines },
  'text/csv': { extension: 'csv', parameters: '; charset=utf-8; header=present', texts: csvOf },
} as const

type FileType = keyof typeof FILES

/** The list as a file, if `accept` prefers one to JSON. Groups are not there as one. */
export async function fileOf(
  resource: Resource,
  action: ListAction,
  accept: string,
  request: ApiRequest,
  context: Context,
): Promise<Response | undefined> {
  const type = bestOf(accept, Object.keys(FILES) as FileType[])
  if (!type) return undefined
  if (resource.exportLimit === 0) {
    if (takesJson(accept)) return undefined
    throw notExported()
  }
  const body = await bodyOf(resource, action, request)
  if (asksForGroups(body)) throw notExported()
  const plan = await planFor(resource, action, request, body)
  return exportList(resource, plan, type, action, { request, context, body })
}

/** The list as a file of `type`. Everything that can be refused is refused before the response begins. */
async function exportList(
  resource: Resource,
  plan: ListPlan,
  type: FileType,
  action: ListAction,
  asked: Asked,
): Promise<Response> {
  const { mount, engine, exportLimit, hints } = resource
  const { request, context } = asked
  if (plan.isPart) throw exportHasNoPages()
  const { extension, parameters, texts } = FILES[type]
  const name = mount.split('/').at(-1) || 'list'
  const headers = {
    'Content-Type': `${type}${parameters}`,
    'Content-Disposition': `attachment; filename="${name}.${extension}"`,
    'Cache-Control': 'no-store',
    Vary: 'Accept',
  }
  try {
    const rights = await rightsOf(resource, plan, request, context, performance.now())
    const mayEnd = rights.request || rights.rules || guardsOf(resource, action).length > 0
    const current = keptUp(rights, mayEnd ? askerFor(resource, action, asked) : undefined)
    if (Number.isFinite(exportLimit)) {
      const count = await engine.stored.count(rights.filter, hintsFor(hints, request))
      if (count > exportLimit) throw exportTooLarge(exportLimit)
    }
    const reading = { resource, view: rights.view, request }
    const parts = partsOf(reading, rights, texts(resource, rights.view), current)
    // Before the response begins, what fails is refused; then its client finds only that the connection ends.
    const { value: first = '' } = await parts.next()
    const broken = (error: unknown) => void fail(refusalOf(error), request, context)
    return new Response(streamOf(encoded(first, parts, broken)), { headers })
  } catch (error) {
    throw refusalOf(error)
  }
}

/** Returns what tells what the client may see, as `asker` finds out; that rejects once it is something else than at first. */
function keptUp(first: Rights, asker: Asker | undefined): () => Promise<Rights> {
  let rights = first
  return async () => {
    if (!asker || performance.now() - rights.askedAt < GOOD_MS) return rights
    rights = await asker.ask()
    if (rights.rules !== first.rules) throw new Error('the client may see something else now')
    return rights
  }
}

const lines: TextOf = (records) => records.map((one) => `${JSON.stringify(one)}\n`).join('')

/** How many characters are read at a time, about, and the most records. */
const PART_LENGTH = 256 * 1024
const MAX_RECORDS = 1000
/** The records of the first part: they say how large records are, and which columns there are of what `output` adds. */
const firstOf = ({ model, lean }: Resource): number => (model.output && !lean ? 100 : 3)

/** The text of the file, part by part: only one part is in memory. Each goes on after the last record of the one before. */
async function* partsOf(
  reading: Reading,
  first: Rights,
  textOf: TextOf,
  current: () => Promise<Rights>,
): AsyncGenerator<string, void> {
  const { resource, view, request: begin } = reading
  const { engine, model, lean, hints } = resource
  const { sort } = first
  const select = withKeys(view.select, sort)
  let limit = firstOf(resource)
  let after: readonly Scalar[] | undefined
  for (;;) {
    const { filter, request = begin } = after ? await current() : first
    const read = { filter, sort, limit, hints: hintsFor(hints, request) }
    const found = await engine.stored.find({
      ...read,
      ...(select && { select }),
      ...(after && { after }),
    })
    const last = found.at(-1)
    const records = select === view.select ? found : found.map((one) => project(one, view.select))
    const declared = declaredParts(model, records, { ...view, lean })
    const { linked } = await filledIn({ ...reading, request }, declared)
    const shown = linked.map((one) =>
      model.output ? shownPart(present(model, one, lean), view.chosen) : one,
    )
    const text = textOf(datesAsText(shown) as Fields[], linked, after === undefined)
    if (text !== '') yield text
    if (!last || found.length < limit) return
    after = sort.map(({ field }) => valueAt(last, field))
    const perRecord = Math.max(1, text.length / found.length)
    limit = Math.min(MAX_RECORDS, Math.max(1, Math.floor(PART_LENGTH / perRecord)))
  }
}

/** `select` with the fields of the order, by whose values the next part is found. */
function withKeys(
  select: Projection | undefined,
  sort: readonly SortKey[],
): Projection | undefined {
  if (!select) return undefined
  const fields = sort.map(({ field }) => field)
  return 'include' in select
    ? { include: [...select.include, ...fields] }
    : { exclude: select.exclude.filter((path) => !fields.some((one) => isWithin(one, path))) }
}

const fail = errorHandler()

/** Reads on only as fast as the client does, and no further when it has gone; calls `broken` if it breaks off. */
async function* encoded(
  first: string,
  parts: AsyncGenerator<string, void>,
  broken: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder()
  if (first !== '') yield encoder.encode(first)
  try {
    for await (const part of parts) yield encoder.encode(part)
  } catch (error) {
    broken(error)
    throw error
  }
}

/** The text of some records of a file, as they are shown and before `output`; `isFirst` if the file begins with them. */
type TextOf = (records: readonly Fields[], given: readonly Fields[], isFirst: boolean) => string

/** A field, or one inside a reference that is filled in. */
type Column = readonly string[]

/** Rows of the fields that `view` shows; references that are filled in have a column for each field of their records. */
function csvOf({ model, lean }: Resource, view: View): TextOf {
  const declared = columnsOf(model, view)
  let columns = declared
  return (records, given, isFirst) => {
    // What `output` makes of records is seen in the first ones; of a field that none of them has, it is not known.
    if (isFirst && model.output && !lean && !view.chosen) {
      const unseen = declared.filter(
        ([name = '']) => !given.some((one) => Object.hasOwn(one, name)),
      )
      const isKept = (name: string) =>
        records.every((one, at) => hasMembersOf(one[name], given[at]?.[name]))
      columns = columnsIn(records, declared, unseen, isKept)
    }
    const rows = records.map((record) => columns.map((path) => cellOf(inside(record, path))))
    const header = columns.map((path) => cellOf(path.join('.')))
    return [...(isFirst ? [header] : []), ...rows].map((row) => `${row.join(',')}\r\n`).join('')
  }
}

/** The columns of a view, or of a reference that is filled in. */
function columnsOf(
  model: Resource['model'],
  { select, chosen, populate = [] }: Pick<Population, 'select' | 'chosen' | 'populate'>,
): readonly Column[] {
  return namesIn(model, chosen ?? select).flatMap((name): readonly Column[] => {
    const filled = populate.find(({ path }) => path === name)
    const isList = (placeOf(model.shape, name)?.parts.length ?? 1) > 1
    if (!filled || isList) return [[...name.split('.')]]
    return columnsOf(filled.target, filled).map((column) => [...name.split('.'), ...column])
  })
}

/** The names of what is shown, `_id` first. */
function namesIn(model: Resource['model'], select: Projection | undefined): readonly string[] {
  if (select && 'include' in select) return [...new Set(['_id', ...select.include])]
  const hidden = select?.exclude ?? []
  const shown = [...model.shape.fields.keys()].filter((name) => !hidden.includes(name))
  return [...new Set(['_id', ...shown])]
}

function columnsIn(
  records: readonly Fields[],
  declared: readonly Column[],
  unseen: readonly Column[],
  isKept: (name: string) => boolean,
): readonly Column[] {
  const names = new Set(records.filter(isFields).flatMap((record) => Object.keys(record)))
  if (names.size === 0) return declared
  const more = unseen.filter(([name = '']) => !names.has(name))
  const own = [...names].flatMap((name) => {
    const inner = declared.filter((column) => column.length > 1 && column[0] === name)
    return inner.length > 0 && isKept(name) ? inner : [[name]]
  })
  return [...own, ...more]
}

/** Whether what `output` made of a reference that is filled in has no members but those of its record. */
function hasMembersOf(value: unknown, given: unknown): boolean {
  if (!isFields(value) || !isFields(given)) return isFields(value) === isFields(given)
  return Object.keys(value).every((key) => Object.hasOwn(given, key))
}

/** What is at a path; of a list, what is there in each element. */
function inside(value: unknown, path: Column): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (Array.isArray(value)) return value.map((element) => inside(element, path) ?? null)
  // A reference that was not filled in is an id.
  if (typeof value === 'string') return key === '_id' ? value : undefined
  return isFields(value) && Object.hasOwn(value, key) ? inside(value[key], rest) : undefined
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') return quoted(JSON.stringify(value))
  if (typeof value !== 'string') return String(value)
  // A spreadsheet would run it as a formula; some take wide signs for the others.
  return quoted(/^[=+\-@\t\r\n\0＝＋－＠]/.test(value) ? `'${value}` : value)
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
