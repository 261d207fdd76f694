/**
 * Finds the records that point at an object.
 *
 * @module
 */

import type { FileStore } from '../ports/files.ts'
import { any, type Filter } from '../ports/filter.ts'
import { type ObjectShape, placeOf } from '../ports/shape.ts'
import { keysIn } from './file-values.ts'
import type { FilePlace } from './sweep.ts'

/** The filter for records of `shape` that hold one of `urls` in one of the file fields `names`. */
export function pointsAt(
  shape: ObjectShape,
  names: Iterable<string>,
  urls: readonly string[],
): Filter {
  const paths = [...names]
    .flatMap((name) => [name, `${name}.url`])
    .filter((path) => placeOf(shape, path))
  return any(paths.map((field): Filter => ({ op: 'in', field, values: urls })))
}

/**
 * Those of `objects` (keys, each with a URL that leads there) that no record in `places` holds. Clients cannot make two
 * records hold one object, but your app's code can.
 */
export async function unheld(
  objects: ReadonlyMap<string, string>,
  places: readonly FilePlace[],
  store: FileStore,
): Promise<string[]> {
  const left = new Map(objects)
  for (const { shape, fields, records } of places) {
    const include = [...fields]
    // Each record found holds at least one object, so the queries number at most one more than the objects.
    for (let more = true; more && left.size > 0; ) {
      const urls = [...left].flatMap(([key, url]) => [...new Set([url, store.urlOf(key)])])
      const filter = pointsAt(shape, fields, urls)
      const [found] = await records.find({ filter, sort: [], limit: 1, select: { include } })
      const held = found ? keysIn(found, fields, store) : []
      more = false
      for (const key of held) more = left.delete(key) || more
    }
  }
  return [...left.keys()]
}
