/**
 * Records as the table's JSON, and back.
 *
 * @module
 */

import { parseInSlices, stringifyInSlices } from '../../../src/ports/json.ts'
import type { ObjectShape } from '../../../src/ports/shape.ts'
import { isLarge } from '../../../src/ports/slices.ts'
import type { Fields } from '../../../src/ports/store.ts'
import { restoreOf } from '../json-values.ts'

/** `record` as it is stored: `_id` first, before any other name; dates as ISO 8601 with milliseconds. */
export function textOf({ _id, ...fields }: Fields): string {
  const rest = JSON.stringify(fields)
  return `{"_id":${JSON.stringify(_id)}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`
}

/** `textOf` in slices if the record is large, so that it holds up no other request. */
export async function textInSlices(record: Fields): Promise<string> {
  if (!isLarge(record)) return textOf(record)
  const { _id, ...fields } = record
  const rest = (await stringifyInSlices(fields)) as string
  return `{"_id":${JSON.stringify(_id)}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`
}

/** Longer JSON is parsed in slices. */
const LONG = 64 * 1024

/** The value of stored JSON; long JSON is parsed in slices. */
export function parsed(text: string): unknown {
  return text.length > LONG ? parseInSlices(text) : JSON.parse(text)
}

/** Parses records of a shape from their JSON; long ones in slices. */
export function readerOf(shape: ObjectShape): (text: string) => Fields | Promise<Fields> {
  const restore = (restoreOf(shape) ?? ((value) => value)) as (value: unknown) => Fields
  return (text) => {
    const value = parsed(text)
    return value instanceof Promise ? value.then(restore) : restore(value)
  }
}
