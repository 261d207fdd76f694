import { readFileSync } from 'node:fs'
import { type AuditRow, audit as auditOf } from '../../src/audit/audit.ts'
import { table } from '../../src/upkeep/check/table.ts'
import { command, type Run, Unusable } from './command.ts'

const USAGE = `Prints who may do what on each route of your app. The app does not start, so its database need not run.

  fieldgate audit <module> [--table] [--against <file>]

  <module>   the file that exports your app: export const app = createApp({ … })
  --table    prints a table for people instead of JSON
  --against  compares with a file that an earlier run printed, and prints only what has changed

Exit codes: 0 fine, 1 something has changed, 2 could not run.`

export const audit: Run = command({
  usage: USAGE,
  names: ['against'],
  flags: ['table'],
  async run({ flags, values: { against } }, open) {
    const before = against === undefined ? undefined : linesIn(against)
    const { app } = await open('none')
    const rows = auditOf(app)
    if (before) return compared(before, rows.map(lineOf))
    console.log(flags.has('table') ? tableOf(rows) : textOf(rows))
    return 0
  },
})

/** JSON with one row on each line, so that a comparison of two files shows routes. */
export function textOf(rows: readonly AuditRow[]): string {
  return rows.length === 0 ? '[]' : `[\n${rows.map((row) => `  ${lineOf(row)}`).join(',\n')}\n]`
}

function lineOf(row: AuditRow): string {
  return JSON.stringify(row)
}

function linesIn(file: string): readonly string[] {
  try {
    const rows: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (Array.isArray(rows)) return rows.map(lineOf)
  } catch (error) {
    throw new Unusable(`--against: '${file}' could not be read: ${(error as Error).message}`)
  }
  throw new Unusable(`--against: '${file}' is not what fieldgate audit prints`)
}

/** Prints the rows that are gone and those that are new; resolves to the exit code. */
function compared(before: readonly string[], now: readonly string[]): number {
  const gone = without(before, now).map((line) => `- ${line}`)
  const added = without(now, before).map((line) => `+ ${line}`)
  const changes = [...gone, ...added]
  if (changes.length === 0 && before.join() !== now.join())
    changes.push('The order of the routes has changed.')
  console.log(changes.length === 0 ? `${now.length} routes, none has changed` : changes.join('\n'))
  return changes.length === 0 ? 0 : 1
}

/** The lines of `some` that `others` has not, as often as it lacks them. */
function without(some: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others]
  return some.filter((line) => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

const COLUMNS = [
  'method',
  'path',
  'who',
  'scope',
  'read',
  'write',
  'filter',
  'sort',
  'search',
] as const

function tableOf(rows: readonly AuditRow[]): string {
  return table([COLUMNS, ...rows.map((row) => COLUMNS.map((column) => cellOf(row[column])))])
}

function cellOf(value: AuditRow[(typeof COLUMNS)[number]]): string {
  if (typeof value === 'boolean') return value ? 'limited' : 'all'
  if (typeof value === 'string') return value
  return value.length > 4
    ? `${value.slice(0, 3).join(' ')} +${value.length - 3}`
    : value.join(' ') || '-'
}
