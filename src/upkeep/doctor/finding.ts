/**
 * What an examination finds.
 *
 * @module
 */

import type { Model } from '../../model/model.ts'

/**
 * The model's records may be in another collection; the collection compares strings in its own way; an index that
 * fieldgate did not create; accounts whose stored identifier no sign-in matches; values of other types than the model's;
 * members that the model does not declare.
 */
export type FindingKind =
  | 'collection'
  | 'collation'
  | 'index'
  | 'identifier'
  | 'type'
  | 'undeclared'

/** One thing that was found, of one model. */
export interface Finding {
  readonly model: string
  readonly problem: FindingKind
  /** The path, without indexes of lists; several fields of an index have commas between them. Empty for a collection. */
  readonly field: string
  /** The number of values or records; 0 where it is not about records. */
  readonly count: number
  /** The ids of the first records, three at most. */
  readonly examples: readonly string[]
  /** What it means, and what to do. */
  readonly note: string
}

/** A finding that is not about single records. */
export function about(
  { name }: Pick<Model, 'name'>,
  problem: FindingKind,
  field: string,
  note: string,
): Finding {
  return { model: name, problem, field, count: 0, examples: [], note }
}

const EXAMPLES = 3

/** Counts what records have in common. */
export class Findings {
  readonly #model: string
  readonly #found = new Map<string, Finding>()

  constructor(model: string) {
    this.#model = model
  }

  /** Counts something in the record `id`. */
  add(problem: FindingKind, field: string, note: string, id: string): void {
    const key = JSON.stringify([problem, field, note])
    const { count, examples } = this.#found.get(key) ?? { count: 0, examples: [] }
    const isNew = examples.length < EXAMPLES && examples.at(-1) !== id
    this.#found.set(key, {
      model: this.#model,
      problem,
      field,
      count: count + 1,
      examples: isNew ? [...examples, id] : examples,
      note,
    })
  }

  /** What was found, in the order in which it was found first. */
  all(): readonly Finding[] {
    return [...this.#found.values()]
  }
}
