/**
 * The fields in which Mongoose keeps the times of a document.
 *
 * @module
 */

import type { Report } from './report.ts'
import type { SchemaParts } from './structure.ts'

/** The names of a model's timestamps; false for a time that is not kept. */
export interface Times {
  readonly createdAt: string | false
  readonly updatedAt: string | false
}

/** The timestamps of a whole document of `schema`. */
export function timesOf(schema: SchemaParts, report: Report): Times {
  const { timestamps } = schema.options
  const named = (
    typeof timestamps === 'object' && timestamps !== null
      ? timestamps
      : { createdAt: timestamps === true, updatedAt: timestamps === true }
  ) as Readonly<Record<string, unknown>>
  if (typeof named.currentTime === 'function') {
    report.add('', 'timestamps', 'currentTime does not run: the clock of the app is asked')
  }
  return {
    createdAt: nameOf('createdAt', named.createdAt, schema, report),
    updatedAt: nameOf('updatedAt', named.updatedAt, schema, report),
  }
}

function nameOf(
  time: keyof Times,
  given: unknown,
  schema: SchemaParts,
  report: Report,
): string | false {
  const name = given === undefined || given === true ? time : given
  if (typeof name !== 'string') return ownNameOf(time, schema, report)
  if (!name.includes('.')) return name
  report.add(name, 'timestamps', 'a time inside an object: clients write it, and no change sets it')
  return false
}

/** A path of that name which is none of Mongoose's timestamps. The server keeps the name, so the server sets it. */
function ownNameOf(time: keyof Times, { paths }: SchemaParts, report: Report): string | false {
  if (!Object.hasOwn(paths, time)) return false
  if (paths[time]?.defaultValue === Date.now && time === 'createdAt') return time
  report.add(time, 'name', 'a name that the server keeps: it sets the time itself, clients cannot')
  return time
}
