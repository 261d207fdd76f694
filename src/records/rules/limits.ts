/** The scope of one request: alternatives, each of which is a list of equalities. */

import { all, any, everything, type Filter, is, type Scalar } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'

/** A value that a top-level field must have, or one of its elements. */
export interface Limit {
  readonly field: string
  readonly value: Scalar
  readonly isInList: boolean
}

/** The records that a request can reach: those that match all limits of one alternative. */
export class Scope {
  readonly filter: Filter
  readonly #alternatives: readonly (readonly Limit[])[]

  constructor(alternatives: readonly (readonly Limit[])[]) {
    this.#alternatives = alternatives
    this.filter = filterOf(alternatives)
  }

  /** The fields that it names. They are never the client's to write, or it could write itself into the scope. */
  get fields(): ReadonlySet<string> {
    return new Set(this.#alternatives.flat().map(({ field }) => field))
  }

  /** What all alternatives have in common, set on a create. */
  get values(): Readonly<Fields> {
    const [first = [], ...others] = this.#alternatives
    const common = first.filter(({ field, value }) =>
      others.every((other) => other.some((one) => one.field === field && isSame(one.value, value))),
    )
    const entries = common.map(({ field, value, isInList }) => {
      return [field, isInList && value !== null ? [value] : value]
    })
    return Object.fromEntries(entries)
  }

  /** Whether a record is within the scope, as a store would decide by the filter. */
  admits(record: Fields): boolean {
    return this.#alternatives.some((limits) => limits.every((limit) => holds(record, limit)))
  }

  /** What a record within the scope must match besides, so that it stays within it when `changes` are written. */
  keeping(changes: Fields): Filter {
    const isWritten = ({ field }: Limit) => Object.hasOwn(changes, field)
    if (!this.#alternatives.flat().some(isWritten)) return everything
    const left = this.#alternatives.filter((limits) =>
      limits.filter(isWritten).every((limit) => holds(changes, limit)),
    )
    return filterOf(left.map((limits) => limits.filter((limit) => !isWritten(limit))))
  }
}

export const unlimited: Scope = new Scope([[]])

function filterOf(alternatives: readonly (readonly Limit[])[]): Filter {
  return any(alternatives.map((limits) => all(limits.map(({ field, value }) => is(field, value)))))
}

function holds(record: Fields, { field, value, isInList }: Limit): boolean {
  const stored = record[field]
  const values = isInList && Array.isArray(stored) ? stored : [stored]
  return values.some((one) => isSame(one, value))
}

/** Null stands for a missing value too, as in a filter. */
function isSame(stored: unknown, value: Scalar): boolean {
  if (stored instanceof Date && value instanceof Date) return stored.getTime() === value.getTime()
  return (stored ?? null) === value
}
