/**
 * Records as the table's JSON, and back.
 *
 * @module
 */

import type { ObjectShape } from '../../../../src/ports/shape.ts'
import type { Fields } from '../../../../src/ports/store.ts'
import { restoreOf } from '../../json-values.ts'

/** `record` as it is stored: `_id` first, before any other name; dates as ISO 8601 with milliseconds. */
export function textOf({ _id, ...fields }: Fields): string {
  const rest = JSON.stringify(fields)
  return `{"_id":${JSON.stringify(_id)}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`
}

/** Parses records of a shape from their JSON. */
export function readerOf(shape: ObjectShape): (text: string) => Fields {
  const restore = (restoreOf(shape) ?? ((value) => value)) as (value: unknown) => Fields
  return (text) => restore(JSON.parse(text))
}
