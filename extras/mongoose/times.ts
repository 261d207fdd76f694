/** The paths in which Mongoose keeps the times of a document. */

import { type MakeDefault, recordTime } from './defaults.ts'
import { type Finding, reportPath } from './left-out.ts'
import type { SchemaParts, SchemaType } from './structure.ts'

/** The names of a model's timestamps; false for a time that is not kept. */
export interface Times {
  readonly createdAt: string | false
  readonly updatedAt: string | false
}

type Time = keyof Times

/** What is known while the times of a schema are read. */
interface Reading extends Finding {
  readonly hidden: string[]
}

/** The paths that the timestamps of `schema` set. */
function timePaths({ options: { timestamps } }: SchemaParts): Times {
  const named = (
    typeof timestamps === 'object' && timestamps !== null
      ? timestamps
      : { createdAt: timestamps === true, updatedAt: timestamps === true }
  ) as Readonly<Record<string, unknown>>
  const nameOf = (time: Time): string | false => {
    const given = named[time] ?? true
    return typeof given === 'string' ? given : given === true && time
  }
  return { createdAt: nameOf('createdAt'), updatedAt: nameOf('updatedAt') }
}

/** The timestamps of a whole document of `schema` that a model keeps: those that are dates. */
export function timesOf(schema: SchemaParts, reading: Reading): Times {
  const set = timePaths(schema)
  const kept = (time: Time): string | false => {
    const name = set[time]
    if (name === false) return ownNameOf(time, schema, reading)
    return !name.includes('.') && isDate(schema.paths[name]) && name
  }
  const times = { createdAt: kept('createdAt'), updatedAt: kept('updatedAt') }
  const names = Object.values(times).filter((name) => name !== false)
  for (const name of names) readTime(schema.paths[name], name, reading)
  if (currentTimeOf(schema) && names.some((name) => Object.values(set).includes(name))) {
    const note = 'currentTime does not run: the clock of the app is asked'
    reading.report.add('', 'timestamps', note, true)
  }
  return times
}

function isDate(type: SchemaType | undefined): boolean {
  return type === undefined || type.instance === 'Date'
}

/** A path of that name which is none of Mongoose's timestamps. The server keeps the name, so it sets a date there. */
function ownNameOf(time: Time, { paths }: SchemaParts, { report }: Reading): string | false {
  const type = paths[time]
  if (!type) return false
  if (!isDate(type)) {
    report.add(
      time,
      'name',
      `a ${type.instance}, which keeps its type. Clients cannot write it, nor can hooks, because the name is the server's: new records get its default`,
    )
    return false
  }
  if (type.defaultValue === Date.now && time === 'createdAt') return time
  report.add(time, 'name', 'a name that the server keeps: it sets the time itself, clients cannot')
  return time
}

/** What else is said of a time that the server sets. */
function readTime(type: SchemaType | undefined, name: string, reading: Reading): void {
  if (type?.options.select === false) reading.hidden.push(name)
  if (type) reportPath(type, name, reading, ['immutable', 'set', 'validate'])
}

/** Whether the timestamps of a schema set its path `name`. */
export function isTime(schema: SchemaParts, name: string): boolean {
  return Object.values(timePaths(schema)).includes(name)
}

/** Reports the path `name` at `path`, which Mongoose's timestamps set and those of a model cannot. */
export function reportTime(
  schema: SchemaParts,
  name: string,
  path: string,
  reading: Finding,
): void {
  reportPath(schema.paths[name] as SchemaType, path, reading, ['immutable'])
  const isWhole = name === path && timePaths(schema).updatedAt === name
  const note = isWhole
    ? 'set in new records alone: no change sets it, and what is found and sorted by it misses changes. Only dates are kept up to date'
    : 'kept as it is sent, and set where it is new; no change sets it'
  reading.report.add(path, 'timestamps', note, isWhole)
}

/** Makes the time that Mongoose's timestamps would store at a path of this type. */
export function clockOf(schema: SchemaParts, { instance }: SchemaType): MakeDefault {
  const now = currentTimeOf(schema) ?? (() => new Date())
  return () => recordTime(instance, now())
}

function currentTimeOf({ options }: SchemaParts): (() => unknown) | undefined {
  const { currentTime } = (options.timestamps ?? {}) as { readonly currentTime?: unknown }
  return typeof currentTime === 'function' ? (currentTime as () => unknown) : undefined
}
