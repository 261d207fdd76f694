/** `GET <mount>/:id/history`: what happened to a record, the latest first. */

import { hintsFor } from '../../http/deadline.ts'
import { entryNotFound, invalidCursor, responseTooLarge } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { listJson } from '../../http/response/respond.ts'
import { isFields } from '../../model/writable.ts'
import { isSameContent } from '../../ports/evaluation/evaluate.ts'
import { countFor, nextTurn } from '../../ports/promises/turns.ts'
import type { LoggedChange } from '../../ports/store/changes.ts'
import { withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { logOf } from '../engine/author.ts'
import type { Context } from '../engine/route.ts'
import type { Cursors } from '../list/cursor.ts'
import { cursorInUrl, pageSizeInUrl } from '../list/parameters.ts'
import { type Reading, requestedId, showWritten } from '../read/read.ts'
import { viewFor } from '../read/view.ts'
import { type Scope, scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'

export async function readHistory(
  resource: Resource,
  cursors: Cursors,
  request: ApiRequest,
  context: Context,
): Promise<{ readonly body: string }> {
  const { model, mount, maxLimit, defaultPageSize, maxResponseBytes } = resource
  const id = requestedId(resource, request)
  const url = { query: request.query, shaped: new Set<string>() }
  const { pageSize: wanted } = pageSizeInUrl({ ...resource, pagination: 'cursor' }, url)
  const pageSize = Math.min(wanted ?? defaultPageSize, maxLimit)
  const { cursor } = cursorInUrl(resource, url)
  const scope = await scopeOf(model, resource.scope.read, request)
  const tokens = cursors({
    mount: `${mount}/:id/history`,
    ...{ filter: withId(id), search: undefined, scope: scope.filter, sort: [] },
  })
  const after = cursor === undefined ? undefined : tokens.read(cursor)
  await currentIn(resource, id, scope)
  // References stay ids: what they lead to has a history of its own.
  const view = { ...(await viewFor(resource, request, context)), populate: [] }
  const reading = { resource, view, request }
  const texts: string[] = []
  let nextCursor: string | null = null
  let [last, length] = ['', 0]
  for await (const change of changesBefore(resource, id, after, pageSize)) {
    hintsFor(resource.hints, request).signal?.throwIfAborted()
    const one = await shownAs(reading, scope, change)
    if (!one) continue
    if (texts.length === pageSize) {
      nextCursor = tokens.issue(last)
      break
    }
    last = one.id
    const text = JSON.stringify(one)
    texts.push(text)
    length += text.length
    if (length > maxResponseBytes) throw responseTooLarge()
  }
  const pagination = { pageSize, hasMore: nextCursor !== null, nextCursor }
  return { body: listJson(texts, pagination, maxResponseBytes) }
}

/** The changes of a record before the one at a position, or all of them, the latest first. */
async function* changesBefore(
  resource: Pick<Resource, 'host' | 'model'>,
  id: string,
  position: string | undefined,
  pageSize: number,
): AsyncGenerator<LoggedChange> {
  const log = logOf(resource.host)
  let [limit, most] = [3, pageSize + 2]
  for (let upTo = position; ; ) {
    const found = await log.history(resource.model.name, id, { limit, upTo })
    // It was dropped meanwhile, or is of another database.
    if (position !== undefined && upTo === position && found[0]?.id !== position) {
      throw invalidCursor()
    }
    for (const change of found) if (change.id !== upTo) yield change
    if (found.length < limit) return
    upTo = found.at(-1)?.id
    // The entry before it has what it was twice, nearly.
    limit = countFor(2 * JSON.stringify(found.at(-1)?.before ?? null).length, most)
    // Of changes that the reader may not see there may be thousands: small pages would ask for a few at a time.
    most = Math.max(most, 100)
    await nextTurn()
  }
}

/** An entry as clients see it. */
interface Shown extends Pick<LoggedChange, 'id' | 'at' | 'by' | 'kind'> {
  readonly changes: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
}

/** What the reader may see of a change, if anything: a state outside of the scope is none, as in the list. */
async function shownAs(
  reading: Reading,
  scope: Scope,
  { id, at, by, kind, before, after }: LoggedChange,
): Promise<Shown | undefined> {
  const seen = async (state: Fields | null): Promise<Fields> => {
    if (!state || !scope.admits(state)) return {}
    const shown: unknown = JSON.parse(await showWritten(reading, state))
    return isFields(shown) ? shown : {}
  }
  const [from, to] = [await seen(before), await seen(after)]
  const names = new Set([...Object.keys(from), ...Object.keys(to)])
  names.delete('_id')
  const changed = [...names].filter((name) => !isSameContent(from[name] ?? null, to[name] ?? null))
  const isSeen = [before, after].some((state) => state && scope.admits(state))
  if (!isSeen || (changed.length === 0 && kind === 'updated')) return undefined
  const changes = changed.map((name) => [name, { from: from[name] ?? null, to: to[name] ?? null }])
  return { id, at, by, kind, changes: Object.fromEntries(changes) }
}

/** The record; undefined if it was removed. Throws a 404 if it, or what it was last, is out of scope or never was. */
export async function currentIn(
  resource: Pick<Resource, 'host' | 'model' | 'engine'>,
  id: string,
  scope: Scope,
): Promise<Fields | undefined> {
  const record = await resource.engine.first(withId(id))
  const [last] = record
    ? []
    : await logOf(resource.host).history(resource.model.name, id, { limit: 1 })
  const known = record ?? (last?.kind === 'removed' ? last.before : undefined)
  if (!known || !scope.admits(known)) throw entryNotFound()
  return record
}
