/**
 * `fieldgate check ./src/app.ts [--json]`
 *
 * @module
 */

import { checkRecords, type Problem } from '../../src/check/check.ts'
import { bar, commandLine, openApp } from './command.ts'

const USAGE = `Reads every stored record through your models and tells what does not fit. Nothing is written.

  fieldgate check <module> [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  --json    one JSON value instead of the table: { ok, problems: [{ model, problem, field, count, examples }] }

Exit codes: 0 all records fit, 1 some do not, 2 the check could not run.`

/** What a user can do about each problem. */
const CURES: Readonly<Record<Problem['problem'], string>> = {
  undeclared: 'clients never see it; declare it in the model, or remove it from the records',
  missing: 'give the field a default, or make it .optional()',
  type: 'store it as the model says, or change the model',
  invalid: 'mend the records, or let the model take the value',
  duplicate: 'make the values differ, or drop it from unique',
}

/** Runs the command; resolves to its exit code. */
export async function check(args: readonly string[]): Promise<number> {
  const given = commandLine(args, USAGE)
  if (!given) return 0
  const { module, json } = given
  const { app, host } = await openApp(module)
  try {
    // What is printed for people or machines alone belongs on the standard output.
    const result = await checkRecords(host.database, host.known(), bar(process.stderr))
    console.log(json ? JSON.stringify(result) : tableOf(result.problems))
    return result.ok ? 0 : 1
  } finally {
    await app.close()
  }
}

function tableOf(problems: readonly Problem[]): string {
  if (problems.length === 0) return 'All records fit their models.'
  const head = ['model', 'problem', 'field', 'records', 'for example', 'what to do']
  const rows = problems.map(({ model, problem, field, count, examples }) => [
    model,
    problem,
    field,
    count.toLocaleString('en'),
    examples.join(' '),
    CURES[problem],
  ])
  const widths = head.map((title, at) =>
    Math.max(...[title, ...rows.map((row) => row[at] ?? '')].map(({ length }) => length)),
  )
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
