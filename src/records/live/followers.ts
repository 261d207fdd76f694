/** Who follows the records of one model, by the values that their filters ask for: few have to hear of a change. */

import type { Filter } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'

/** Followers whose filters ask for certain values of the same fields. */
interface Group<F> {
  readonly fields: readonly string[]
  /** By these values, as JSON. */
  readonly byValues: Map<string, Set<F>>
}

export class Followers<F extends { readonly filter: Filter }> {
  readonly #groups = new Map<string, Group<F>>()

  add(follower: F): void {
    const { fields, values } = equalitiesIn(follower.filter)
    const name = fields.join()
    const group: Group<F> = this.#groups.get(name) ?? { fields, byValues: new Map() }
    this.#groups.set(name, group)
    const others = group.byValues.get(values) ?? new Set()
    group.byValues.set(values, others.add(follower))
  }

  /** Removes a follower whose filter is the one with which it was added. */
  remove(follower: F): void {
    const { fields, values } = equalitiesIn(follower.filter)
    const name = fields.join()
    const { byValues } = this.#groups.get(name) ?? {}
    const others = byValues?.get(values)
    others?.delete(follower)
    if (others?.size === 0) byValues?.delete(values)
    if (byValues?.size === 0) this.#groups.delete(name)
  }

  /** Those whose filter may match one of `records`, at least. */
  of(records: readonly Fields[]): readonly F[] {
    const found = new Set<ReadonlySet<F>>()
    for (const { fields, byValues } of this.#groups.values()) {
      for (const record of records) {
        const values = valuesOf(record, fields)
        const sets =
          values === undefined ? byValues.values() : [byValues.get(values) ?? new Set<F>()]
        for (const some of sets) found.add(some)
      }
    }
    return [...found].flatMap((some) => [...some])
  }
}

/** The fields that a filter wants to have certain values, and these. */
function equalitiesIn(filter: Filter): {
  readonly fields: readonly string[]
  readonly values: string
} {
  const byField = new Map<string, unknown>()
  for (const one of filter.op === 'and' ? filter.filters : [filter]) {
    if (one.op === 'eq' && isPlain(one.value) && !one.field.includes('.')) {
      byField.set(one.field, one.value)
    }
  }
  const fields = [...byField.keys()].sort()
  return { fields, values: JSON.stringify(fields.map((field) => byField.get(field))) }
}

/** The values of `fields` in a record; undefined if one of them is a list, of which any element counts. */
function valuesOf(record: Fields, fields: readonly string[]): string | undefined {
  const values = fields.map((field) => record[field] ?? null)
  return values.every((value) => value === null || isPlain(value))
    ? JSON.stringify(values)
    : undefined
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}
