/**
 * Work of several statements, for drivers that wait for their statements and for those that don't.
 *
 * @module
 */

import type { Row, Statement } from './sql.ts'

/** The rows of each statement. */
type Answers = readonly (readonly Row[])[]

/** Yields statements that take effect together, and gets the rows of each, or the error. */
export type Migration<Result> = Generator<readonly Statement[], Result, Answers>

/** The result of a migration whose statements `run` runs. */
export async function migrate<Result>(
  migration: Migration<Result>,
  run: (statements: readonly Statement[]) => Promise<Answers>,
): Promise<Result> {
  for (let step = migration.next(); ; ) {
    if (step.done) return step.value
    const answers = await run(step.value).catch((error: unknown) => ({ error }))
    step = 'error' in answers ? migration.throw(answers.error) : migration.next(answers)
  }
}
