/**
 * How many records of a model have each problem.
 *
 * @module
 */

import type { Fields } from '../../ports/store.ts'
import type { RecordProblem } from './record.ts'

/** A kind of problem that records of one model have in one field. */
export interface Problem {
  readonly model: string
  readonly problem: RecordProblem | 'duplicate'
  /** Its path; of a duplicate the fields that are the same, with commas between them. */
  readonly field: string
  /** How many records have it. */
  readonly count: number
  /** The ids of the first of them, three at most. */
  readonly examples: readonly string[]
}

/** How many ids a problem names. */
export const EXAMPLES = 3

/** Counts the findings of one model. */
export class Tally {
  readonly #model: string
  readonly #found = new Map<string, Problem>()

  /** `problems` were found before. */
  constructor(model: string, problems: readonly Problem[] = []) {
    this.#model = model
    for (const known of problems) this.#found.set(`${known.problem} ${known.field}`, known)
  }

  /** Counts what was found in a record. */
  add({ problem, field }: Pick<Problem, 'problem' | 'field'>, { _id }: Fields): void {
    const key = `${problem} ${field}`
    const { count, examples } = this.#found.get(key) ?? { count: 0, examples: [] }
    this.#found.set(key, {
      model: this.#model,
      problem,
      field,
      count: count + 1,
      examples: examples.length < EXAMPLES ? [...examples, String(_id)] : examples,
    })
  }

  /** What was found, in the order in which it was found first. */
  problems(): Problem[] {
    return [...this.#found.values()]
  }
}
