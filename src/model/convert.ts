/** Values that were stored under an earlier model, as the model wants them now. */

import type { Fields } from '../ports/store.ts'
import { atOnce } from '../ports/synchronous.ts'
import { fits } from './fits.ts'
import type { Model } from './model.ts'

/** The parts of a model that a conversion needs. */
type Rules = Pick<Model, 'fields' | 'shape' | 'declared' | 'convert'>

/**
 * `record` with the values that do not fit the model converted by its `convert` functions: `record` itself if nothing
 * changes, otherwise a copy. What a function cannot make fit stays as it is stored.
 */
export function converted(model: Rules, record: Fields): Fields {
  if (!model.convert) return record
  const changes = Object.entries(model.convert).flatMap(([field, convert]) => {
    const stored = record[field]
    if (stored === undefined || fits(model, field, stored)) return []
    const value = attempt(field, convert, stored)
    return value !== undefined && fits(model, field, value) ? [[field, value] as const] : []
  })
  return changes.length === 0 ? record : { ...record, ...Object.fromEntries(changes) }
}

function attempt(field: string, convert: (stored: unknown) => unknown, stored: unknown): unknown {
  try {
    return atOnce(`'convert' of the field '${field}'`, convert(stored))
  } catch {
    return undefined
  }
}
