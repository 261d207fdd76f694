/** Reads one page of a list: by its number, or after a cursor. */

import { hintsFor } from '../../http/deadline.ts'
import { cursorAnchorGone, invalidCursor, searchPatternInvalid } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import type { Pagination } from '../../http/respond.ts'
import { idFrom } from '../../model/cast.ts'
import { valueAt } from '../../model/value-at.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { AnchorGone, InvalidPattern, type Read } from '../../ports/store.ts'
import { type ReadRules, readPage } from '../read/read.ts'
import type { Resource, View } from '../setup/resource.ts'
import type { Cursors, Scan, ScanCursors } from './cursor.ts'
import type { Paging } from './plan.ts'

/** The records of one page, each as JSON. */
export interface ListPage {
  readonly texts: readonly string[]
  /** Undefined for a list without pages. */
  readonly pagination?: Pagination
}

/** The part of a list that was asked for: up to its limit, the page with a number, or the one after a cursor. */
export function readPart(
  rules: ReadRules & Pick<Resource, 'countStrategy'>,
  part: Exclude<Paging, { kind: 'cursor' }> | Position,
  list: Read,
  view: View,
  request: ApiRequest,
): MaybePromise<ListPage> {
  if ('tokens' in part) return readByCursor(rules, part, list, view, request)
  if (part.kind === 'page') return readByNumber(rules, part, list, view, request)
  return readPage(rules, view, { ...list, limit: part.limit }, request)
}

async function readByNumber(
  rules: ReadRules & Pick<Resource, 'countStrategy'>,
  { page, pageSize }: Paging & { kind: 'page' },
  list: Read,
  view: View,
  request: ApiRequest,
): Promise<ListPage> {
  const read = { ...list, skip: (page - 1) * pageSize, limit: pageSize }
  if (rules.countStrategy === 'none') {
    // One more than the page, to know whether another one follows.
    const more = { ...read, limit: pageSize + 1 }
    const { texts, hasMore } = await readPage(rules, view, more, request, pageSize)
    return { texts, pagination: { currentPage: page, pageSize, hasMore } }
  }
  const [{ texts }, totalRecords] = await Promise.all([
    readPage(rules, view, read, request),
    countAll(rules, list.filter, request),
  ])
  const totalPages = Math.ceil(totalRecords / pageSize)
  return { texts, pagination: { currentPage: page, pageSize, totalPages, totalRecords } }
}

/** An estimate of a limited list would leak and mislead, so only an unlimited one is estimated. */
function countAll(
  { engine, countStrategy, hints }: ReadRules & Pick<Resource, 'countStrategy'>,
  filter: Filter,
  request: ApiRequest,
): Promise<number> {
  const isUnlimited = filter.op === 'and' && filter.filters.length === 0
  return countStrategy === 'estimated' && isUnlimited
    ? engine.stored.estimate()
    : engine.stored.count(filter, hintsFor(hints, request))
}

/** Where a page by cursor begins. */
export interface Position {
  readonly pageSize: number
  /** The id of the record that it comes after; undefined for the first page. */
  readonly anchorId: string | undefined
  readonly scope: Filter
  readonly tokens: ScanCursors
}

/** Throws a 400 if the cursor is forged, or belongs to another list. */
export function positionOf(
  { mount, model }: Pick<Resource, 'mount' | 'model'>,
  cursors: Cursors,
  scan: Omit<Scan, 'mount'>,
  { cursor, pageSize }: Paging & { kind: 'cursor' },
): Position {
  const { scope } = scan
  const tokens = cursors({ ...scan, mount })
  if (cursor === undefined) return { pageSize, anchorId: undefined, scope, tokens }
  const anchorId = idFrom(tokens.read(cursor), model.idType)
  if (anchorId === undefined) throw invalidCursor()
  return { pageSize, anchorId, scope, tokens }
}

async function readByCursor(
  rules: ReadRules,
  position: Position,
  list: Read,
  view: View,
  request: ApiRequest,
): Promise<ListPage> {
  const { pageSize, tokens } = position
  const start = position.anchorId === undefined ? {} : await startAfter(rules, position, list)
  // One more than the page, to know whether another one follows.
  const read = { ...list, ...start, limit: pageSize + 1 }
  const { texts, hasMore, lastId } = await readPage(rules, view, read, request, pageSize)
  const nextCursor = hasMore ? tokens.issue(lastId()) : null
  return { texts, pagination: { pageSize, hasMore, nextCursor } }
}

/** The anchor's current place in the order. The anchor must still exist within the scope. */
async function startAfter(
  { engine: { stored } }: ReadRules,
  { anchorId = '', scope }: Position,
  { sort }: Read,
): Promise<Pick<Read, 'after' | 'afterRecord'>> {
  const filter = all([scope, withId(anchorId)])
  if (stored.seeksRecords) return { afterRecord: filter }
  const select = { include: sort.map((key) => key.field) }
  const [anchor] = await stored.find({ filter, sort: [], limit: 1, select })
  if (!anchor) throw cursorAnchorGone()
  return { after: sort.map((key) => valueAt(anchor, key.field)) }
}

/** What the client is told if the store refuses what only it can judge. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof InvalidPattern) return searchPatternInvalid()
  return error instanceof AnchorGone ? cursorAnchorGone() : error
}
