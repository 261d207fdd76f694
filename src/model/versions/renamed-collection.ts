/** A collection whose fields were `renamed`: reads and filters know all names, and writes move to the current ones. */

import { aggregateRecords } from '../../ports/evaluation/aggregate-records.ts'
import { type Compared, compareAt, position } from '../../ports/evaluation/evaluate.ts'
import { firstIn } from '../../ports/evaluation/walk.ts'
import { all, any, type Filter, is, type SortKey, withId } from '../../ports/store/filter.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields, Projection, Read } from '../../ports/store/records.ts'
import type { Change, Collection, WriteAction, WriteOptions } from '../../ports/store/store.ts'
import { topOf } from '../../ports/values/paths.ts'
import type { Model } from '../model.ts'
import { formerPaths, underCurrentNames, upgradeOf } from './upgrade.ts'

type Renamed = Model['renamed']

/** A collection whose records can be moved to the current names, where they have others. */
export interface Settling extends Collection {
  settle?(filter: Filter): Promise<void>
}

/** `inner` under the current names; itself if none was renamed. */
export function renamedCollection(
  inner: Collection,
  { renamed, shape }: Pick<Model, 'renamed' | 'shape'>,
): Settling {
  if (renamed.size === 0) return inner
  const { numericIds } = inner
  const old = [...renamed.keys()]
  const fields = Object.fromEntries([...renamed].map(([, now]) => [now, now]))
  const [settled, unsettled] = [all(old.map(lacks)), any(old.map(has))]
  const current = (record: Fields) => underCurrentNames(record, renamed)
  const found = (filter: Filter) => underAllNames(filter, renamed)

  /** Moves one record that matches `filter` to the current names; whether there was one to move. */
  const settle = async (filter: Filter): Promise<boolean> => {
    // No filter tells null under an earlier name from nothing.
    const record =
      (await firstIn(inner, all([filter, unsettled]))) ?? (await firstIn(inner, filter))
    const move = record && upgradeOf({ renamed, fields }, record, current(record))
    if (!record || !move) return false
    await inner.update(withId(String(record._id)), move.change, { expect: move.expect })
    return true
  }

  const written = async (
    filter: Filter,
    write: (filter: Filter) => Promise<Fields | null>,
  ): Promise<Fields | null> => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const record = await write(all([found(filter), settled]))
      if (record) return current(record)
      // Another writer may have moved the record in between, so the last word is a write, too.
      if (!(await settle(found(filter)))) return write(all([found(filter), settled]))
    }
    throw new Error('a record changed faster than it could be moved to its new names')
  }

  const find = async (read: Read): Promise<Fields[]> => {
    const query = { ...read, filter: found(read.filter) }
    const streams = streamsOf(read.sort, renamed)
    const findPart = async (part: Read) => (await inner.find(part)).map(current)
    return streams.length === 1
      ? findPart({ ...query, ...selectOf(read, renamed) })
      : merged(query, streams, findPart, { shape, numericIds })
  }

  return {
    ...(numericIds && { numericIds }),
    find,
    count: (filter, hints) => inner.count(found(filter), hints),
    aggregate(read) {
      const fields = [...read.by, ...read.measures.filter((one) => 'field' in one)]
      const isMoved = fields.some(({ field }) => formerPaths(field, renamed).length > 0)
      // The values of one group may be under several names.
      return isMoved || !inner.aggregate
        ? aggregateRecords(find, read, { shape, numericIds })
        : inner.aggregate({ ...read, filter: found(read.filter) })
    },
    estimate: () => inner.estimate(),
    insert: (record) => inner.insert(record),
    update: (filter: Filter, change: Change, options?: WriteOptions) =>
      written(filter, (one) => inner.update(one, underOneName(change, renamed), options)),
    async settle(filter) {
      while (await settle(found(filter)));
    },
    async updateMany(filter, change) {
      while (await settle(found(filter)));
      return inner.updateMany(found(filter), underOneName(change, renamed))
    },
    delete: (filter: Filter, options?: WriteOptions) =>
      written(filter, (one) => inner.delete(one, options)),
  }
}

/** How often other writers may come in between. */
const MAX_TRIES = 50

function has(field: string): Filter {
  return { op: 'ne', field, value: null }
}

function lacks(field: string): Filter {
  return is(field, null)
}

/** The same change, which leaves nothing of what it writes under an earlier name: null there would show again. */
function underOneName(change: Change, renamed: Renamed): Change {
  const { set = {}, unset = [], increment = {}, push = {}, pull = {} } = change
  const written = [set, increment, push, pull].flatMap(Object.keys)
  const fields = new Set([...written, ...unset].map(topOf))
  const old = [...renamed].flatMap(([name, now]) => (fields.has(now) ? [name] : []))
  return old.length > 0 ? { ...change, unset: [...unset, ...old] } : change
}

/** The same filter for records under any of the names. */
function underAllNames(filter: Filter, renamed: Renamed): Filter {
  if ('filters' in filter) {
    const filters = filter.filters.map((one) => underAllNames(one, renamed))
    return filters.length === 0 ? filter : { op: filter.op, filters }
  }
  const places = placesOf(filter.field, renamed)
  return places.length === 1
    ? filter
    : any(places.map(({ path, conditions }) => all([...conditions, { ...filter, field: path }])))
}

export function actionUnderAllNames<A extends WriteAction>(action: A, renamed: Renamed): A {
  if (renamed.size === 0) return action
  const filters = Object.entries(action)
    .filter(([name]) => FILTERS.has(name))
    .map(([name, filter]) => [name, underAllNames(filter as Filter, renamed)])
  const change = 'change' in action && { change: underOneName(action.change, renamed) }
  return { ...action, ...Object.fromEntries(filters), ...change }
}

/** The members of actions that are filters. */
const FILTERS = new Set(['update', 'updateMany', 'delete', 'deleteMany', 'require'])

/** Where the value at `path` may be: its path, and what is true of the records that have it there. */
function placesOf(path: string, renamed: Renamed): { path: string; conditions: Filter[] }[] {
  const former = formerPaths(path, renamed)
  const fields = former.map(topOf)
  return [...former, path].map((one, at) => ({
    path: one,
    conditions: [...fields.slice(0, at).map(lacks), ...fields.slice(at, at + 1).map(has)],
  }))
}

function selectOf({ select }: Read, renamed: Renamed): { select?: Projection } {
  if (!select) return {}
  const both = (paths: readonly string[]) =>
    paths.flatMap((path) => [path, ...formerPaths(path, renamed)])
  return 'include' in select
    ? { select: { include: both(select.include) } }
    : { select: { exclude: both(select.exclude) } }
}

/** Records that have the sort's values at the same paths. */
interface Stream {
  readonly conditions: readonly Filter[]
  readonly sort: readonly SortKey[]
}

function streamsOf(sort: readonly SortKey[], renamed: Renamed): readonly Stream[] {
  return sort.reduce<readonly Stream[]>(
    (streams, key) =>
      streams.flatMap((stream) =>
        placesOf(key.field, renamed).map(({ path, conditions }) => ({
          conditions: [...stream.conditions, ...conditions],
          sort: [...stream.sort, { ...key, field: path }],
        })),
      ),
    [{ conditions: [], sort: [] }],
  )
}

/** The records of all streams, read whole to be put in one order, then cut and projected as `read` says. */
async function merged(
  read: Read,
  streams: readonly Stream[],
  find: (read: Read) => Promise<readonly Fields[]>,
  as: Compared,
): Promise<Fields[]> {
  const { filter, sort, skip = 0, limit, select, ...rest } = read
  const most = Math.min(skip + limit, Number.MAX_SAFE_INTEGER)
  const parts = await Promise.all(
    streams.map((stream) =>
      find({
        ...rest,
        filter: all([filter, ...stream.conditions]),
        sort: stream.sort,
        limit: most,
      }),
    ),
  )
  return parts
    .flat()
    .sort((a, b) => compareAt(sort, position(sort, a, as), position(sort, b, as), as))
    .slice(skip, skip + limit)
    .map((record) => project(record, select))
}
