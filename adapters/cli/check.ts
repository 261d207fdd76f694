import { type CheckResult, checkRecords } from '../../src/upkeep/check/check.ts'
import { tableOf } from '../../src/upkeep/check/table.ts'
import { countedRecords } from '../../src/upkeep/tally.ts'
import { bar, command, nothingIn, type Run } from './command.ts'

const USAGE = `Reads every stored record through your models and tells what does not fit. Nothing is written.

  fieldgate check <module> [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  --json    one JSON value instead of the table: { ok, problems: [{ model, problem, field, count, examples }] }, with
            pending: [{ model, field, count }] if a backfill would write something, and misfits: [text] if columns of
            PostgreSQL need another type

Exit codes: 0 all records fit, 1 some do not, 2 the check could not run.`

export const check: Run = command({
  usage: USAGE,
  async run({ json }, open) {
    const { host } = await open()
    // What is printed for people or machines alone belongs on the standard output.
    const result = await checkRecords(host.database, host.known(), bar(process.stderr))
    const { ok, problems, pending, misfits } = result
    const more = { ...(pending.length > 0 && { pending }), ...(misfits.length > 0 && { misfits }) }
    const found = { ok, problems, ...more }
    const isNew = result.records === 0 && ok
    const text = isNew ? await nothingIn(host) : textOf(result)
    console.log(json ? JSON.stringify(found) : text)
    return ok ? 0 : 1
  },
})

function textOf({ problems, pending, misfits }: CheckResult): string {
  const lines = pending.map(
    ({ model, field, count }) =>
      `${model}.${field}: ${countedRecords(count)} shown otherwise than stored; 'fieldgate backfill' writes them`,
  )
  const result = problems.length === 0 ? 'All records fit their models.' : tableOf(problems)
  const starts = misfits.map((misfit) => `The app won't start: ${misfit}`)
  const parts = [[result], lines, starts].filter((part) => part.length > 0)
  return parts.map((part) => part.join('\n')).join('\n\n')
}
