/** Tables for people, of problems above all. */

import { counted, EXAMPLES } from '../tally.ts'
import type { Problem } from './record.ts'

const CURES: Readonly<Record<Problem['problem'], string>> = {
  undeclared: 'clients never see it; declare it in the model, or remove it from the records',
  missing: 'give the field a default, or make it .optional(); a backfill stores timestamps',
  type: 'write a convert function in the model, or change the records',
  invalid: 'write a convert function in the model, or mend the records',
  overlap: "make them differ, or drop it from 'exclude'",
  unmatched: "no filter finds it as it is stored: 'fieldgate doctor' tells the type to store",
  duplicate: 'make the values differ, or drop it from unique',
}

export function tableOf(problems: readonly Problem[]): string {
  const head = ['model', 'problem', 'field', 'records', 'for example', 'what to do']
  const rows = problems.map(({ model, problem, field, count, examples }) => [
    model,
    problem,
    field,
    counted(count),
    examples.slice(0, EXAMPLES).join(problem === 'overlap' ? ', ' : ' '),
    CURES[problem],
  ])
  return table([head, ...rows])
}

/**
 * Lines with columns that are as wide as their longest cell; the first row is the head. A cell may be the text of another
 * server: it stays one line, and tells the terminal nothing.
 */
export function table(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map((cell) => cell.replace(/[\p{Cc}\s]+/gu, ' ')))
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  )
  return rows
    .map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)))
    .map((row) => row.join('  ').trimEnd())
    .join('\n')
}
