/**
 * A change as a string. What JSON has no type for is a date, so the places of dates come along.
 *
 * @module
 */

import type { LoggedChange } from '../../ports/changes.ts'

type Path = readonly (string | number)[]

/** The string of a change. */
export function textOf(change: LoggedChange): string {
  return JSON.stringify([change, datesIn(change, [])])
}

/** The change of a string. */
export function changeIn(text: string): LoggedChange {
  const [change, dates] = JSON.parse(text) as [LoggedChange, readonly Path[]]
  for (const path of dates) {
    const holder = path
      .slice(0, -1)
      .reduce<Record<string | number, unknown>>((at, key) => at[key] as never, change as never)
    const last = path.at(-1) as string
    holder[last] = new Date(holder[last] as string)
  }
  return change
}

function datesIn(value: unknown, path: Path): Path[] {
  if (value instanceof Date) return [path]
  if (typeof value !== 'object' || value === null) return []
  const members = Array.isArray(value) ? value.entries() : Object.entries(value)
  return [...members].flatMap(([key, member]) => datesIn(member, [...path, key]))
}
