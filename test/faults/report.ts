/**
 * What the parts of the fault programme have in common: how they are called, and how they tell what they saw.
 *
 * @module
 */

import type { Verdict } from './notes/ledger.ts'

/** Options of a part, each with its default. */
export type PartOptions = Readonly<Record<string, number | string>>

/** What a part saw. */
export interface Report {
  /** The rows of the table that is printed, by the names of its columns. */
  readonly rows: readonly Readonly<Record<string, number | string>>[]
  /** Whether everything held that is promised; the command ends with exit code 1 otherwise. */
  readonly holds: boolean
}

/** One part: what it does, and what it takes on the command line. */
export interface Part {
  readonly about: string
  readonly options: PartOptions
  run(given: PartOptions): Promise<Report>
}

/** A part from its typed form: an option has the type of its default. */
export function part<const Options extends PartOptions>(typed: {
  readonly about: string
  readonly options: Options
  run(options: Widened<Options>): Promise<Report>
}): Part {
  const { about, options, run } = typed
  return { about, options, run: (given) => run({ ...options, ...given } as Widened<Options>) }
}

type Widened<Options> = {
  readonly [Name in keyof Options]: Options[Name] extends number ? number : string
}

/** The sum of verdicts. */
export function total(verdicts: readonly Verdict[]): Verdict {
  const sum: Verdict = { lost: 0, phantom: 0, resurrected: 0, duplicate: 0 }
  for (const verdict of verdicts) {
    for (const name of Object.keys(sum) as (keyof Verdict)[]) sum[name] += verdict[name]
  }
  return sum
}

/** The value in the middle; of 0.99, the one that one in a hundred is above. */
export function median(values: readonly number[], share = 0.5): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Rows as a table in Markdown. */
export function table(rows: Report['rows']): string {
  const names = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) =>
    names.map((name) => {
      const value = row[name] ?? ''
      return typeof value === 'number' ? value.toLocaleString('en') : value
    }),
  )
  const lines = [names, names.map(() => '---'), ...cells]
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n')
}
