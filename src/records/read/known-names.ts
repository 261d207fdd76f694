/**
 * The names that `onGet` returns, which may come from a client. On every store, names that the model does not have are
 * left out, with one warning each.
 *
 * @module
 */

import type { Model } from '../../model/model.ts'
import type { Shape } from '../../ports/shape.ts'
import type { Resource } from '../setup/resource.ts'

/** Warns that a name in an option returned by `onGet` is unknown; `why` says where it was looked up. */
export type WarnOfName = (option: string, name: string, why: string) => void

/** Clients may send any number of names, so only this many are logged, once each. */
const MOST_NAMES = 100
const LONGEST = 64

const told = new WeakMap<object, Set<string>>()

/** Warns once of each unknown name of a router. */
export function unknownNames(resource: Resource): WarnOfName {
  const key = resource.onGet ?? resource
  const names = told.get(key) ?? new Set()
  told.set(key, names)
  return (option, name, why) => {
    const short = JSON.stringify(name.slice(0, LONGEST))
    const message = `Router '${resource.mount}': onGet's '${option}' names ${short}, which is not a ${why}. It is left out.`
    if (names.has(message) || names.size === MOST_NAMES) return
    names.add(message)
    resource.host.logger.warn(message)
  }
}

/**
 * `select` without the names that `model` does not have. A selection that leaves nothing shows only `_id`; one that
 * removes nothing shows everything (undefined). Throws a `TypeError` unless it is a list of strings.
 */
export function knownNames(
  model: Model,
  select: readonly string[] | undefined,
  warn: WarnOfName,
): readonly string[] | undefined {
  if (select === undefined || select === null || select.length === 0) return undefined
  if (!Array.isArray(select) || select.some((name) => typeof name !== 'string')) {
    throw new TypeError("onGet: 'select' must be a string or a list of strings")
  }
  const isExcluding = select.every((name) => name.startsWith('-'))
  const known = select.filter((name) => {
    const path = name.startsWith('-') ? name.slice(1) : name
    const found = isKnown(model.shape, path.split('.'))
    if (!found) warn('select', name, `field of '${model.name}'`)
    return found
  })
  if (isExcluding) return known.length > 0 ? known : undefined
  const kept = known.filter((name) => !name.startsWith('-'))
  return kept.length > 0 ? kept : ['_id']
}

/** Whether a path leads to something that the shape declares, or into an open part of it. */
function isKnown(shape: Shape, keys: readonly string[]): boolean {
  if (keys.includes('')) return false
  const [key, ...rest] = keys
  if (key === undefined) return true
  switch (shape.kind) {
    case 'list':
      return isKnown(shape.element, keys)
    case 'map':
      return isKnown(shape.value, rest)
    case 'object': {
      const inside = shape.fields.get(key)
      return inside ? isKnown(inside, rest) : shape.open === true
    }
    default:
      return shape.kind === 'mixed'
  }
}
