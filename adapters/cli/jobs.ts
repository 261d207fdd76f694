import { table } from '../../src/upkeep/check/table.ts'
import { command, type Run } from './command.ts'

const USAGE = `Prints the jobs of your app: when each runs next, and how its last run ended.

  fieldgate jobs <module> [--json]

  <module>  the file that exports your app: export const app = createApp({ … })
  --json    prints [{ name, schedule, timeZone, isRunning, next, last, error }]

Exit codes: 0 fine, 1 the last run of a job failed, 2 could not run.`

export const jobs: Run = command({
  usage: USAGE,
  async run({ json }, open) {
    const { app } = await open()
    await app.ready()
    const found = await Promise.all(app.background.map((work) => work.status()))
    const all = found.filter((work) => work.kind === 'job')
    const rows = all.map(({ name, schedule, timeZone, isRunning, next, last, error }) => [
      ...[name, schedule, timeZone, isRunning ? 'now' : (next?.toISOString() ?? 'never')],
      ...[last?.toISOString() ?? '', error],
    ])
    if (json) console.log(JSON.stringify(all.map(({ kind: _, ...job }) => job)))
    else console.log(table([['job', 'schedule', 'time zone', 'next', 'last', 'error'], ...rows]))
    return all.some(({ error }) => error !== '') ? 1 : 0
  },
})
