/**
 * Records as the JSON that reads return.
 *
 * @module
 */

import { onlyDeclared, withDefaults } from '../../../../src/ports/declared.ts'
import { project } from '../../../../src/ports/projection.ts'
import type { CollectionSchema, Fields, Read } from '../../../../src/ports/store.ts'
import { textOf } from './documents.ts'

/**
 * The JSON of a record for a read that selects `select`: what the model declares of it, and with `fillDefaults` the defaults
 * that it lacks. Modifies the record, so it must be the caller's own.
 */
export function shownText(
  record: Fields,
  declared: CollectionSchema['declared'],
  { select, fillDefaults }: Pick<Read, 'select' | 'fillDefaults'>,
): string {
  if (!declared) return textOf(record)
  const shown = onlyDeclared(declared, record)
  const whole = fillDefaults ? withDefaults(declared, shown) : shown
  return textOf(whole === shown ? (shown as Fields) : project(whole as Fields, select))
}

/** The id in the JSON of a record, which begins with it. */
export function idIn(text: string): string {
  const [, literal = '""'] = ID.exec(text) ?? []
  return JSON.parse(literal)
}

const ID = /^\{"_id":("(?:[^"\\]|\\.)*")/
