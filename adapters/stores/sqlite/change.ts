/**
 * Applying a change to a parsed record, inside the transaction that writes it.
 *
 * @module
 */

import type { Change, Fields } from '../../../src/ports/store.ts'

/** `record` after `change`; a new object, its untouched parts shared. */
export function changed(record: Fields, change: Change): Fields {
  const copy = structuredClone(record)
  for (const [path, value] of Object.entries(change.set ?? {})) put(copy, path, () => value)
  for (const path of change.unset ?? []) put(copy, path, () => undefined)
  for (const [path, by] of Object.entries(change.increment ?? {})) {
    put(copy, path, (before) => (typeof before === 'number' ? before : 0) + by)
  }
  for (const [path, { value, cap }] of Object.entries(change.push ?? {})) {
    put(copy, path, (before) => {
      const list = [...(Array.isArray(before) ? before : []), value]
      return cap === undefined ? list : list.slice(-cap)
    })
  }
  for (const [path, { key, value }] of Object.entries(change.pull ?? {})) {
    put(copy, path, (before) =>
      Array.isArray(before) ? before.filter((item) => plain(item?.[key]) !== plain(value)) : before,
    )
  }
  return copy
}

/** Whether the record holds exactly the expected values. */
export function asExpected(record: Fields, expect: Readonly<Fields> | undefined): boolean {
  return Object.entries(expect ?? {}).every(
    ([field, value]) => JSON.stringify(record[field]) === JSON.stringify(value),
  )
}

function put(record: Fields, path: string, next: (before: unknown) => unknown): void {
  const keys = path.split('.')
  const last = keys.pop() ?? path
  let at = record
  for (const key of keys) {
    if (typeof at[key] !== 'object' || at[key] === null) at[key] = {}
    at = at[key] as Fields
  }
  const value = next(at[last])
  if (value === undefined) delete at[last]
  else at[last] = value
}

function plain(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : value
}
