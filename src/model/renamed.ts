/**
 * Fields that had other names: until `fieldgate backfill` has moved them, records hold values under either.
 *
 * A write stores the current name and removes the earlier one. So a value under an earlier name is the one that was
 * written last, perhaps by an earlier version of the app that runs beside this one.
 */

import type { Fields } from '../ports/store.ts'
import type { Model } from './model.ts'

type Renamed = Model['renamed']

/** The same path under the earlier names of its field. */
export function formerPaths(path: string, renamed: Renamed): string[] {
  if (renamed.size === 0) return []
  const [field = path] = path.split('.', 1)
  return [...renamed].flatMap(([old, now]) => (now === field ? [old + path.slice(now.length)] : []))
}

/** `record` under the current names: `record` itself if it has no earlier one, otherwise a copy. */
export function underCurrentNames(record: Fields, renamed: Renamed): Fields {
  let current: Fields | undefined
  // The first of several earlier names wins, as in filters.
  for (const [old, now] of [...renamed].reverse()) {
    if (record[old] === undefined) continue
    const { [old]: value, ...rest } = current ?? record
    current = value === null && rest[now] !== undefined ? rest : { ...rest, [now]: value }
  }
  return current ?? record
}
