/** The defaults of paths: values as records hold them, and functions that are called anew for each new record. */

import { parse } from 'zod/mini'
import type { $ZodType } from 'zod/v4/core'
import { recordValueOf } from './json.ts'
import type { Report } from './report.ts'
import { elementOf, type SchemaType } from './structure.ts'

/** Makes the default of a path. */
export type MakeDefault = () => unknown

/** The default of `type`, whose values are `schema`; undefined if it has none. `isGeo` says that an index takes it for a place. */
export function defaultOf(
  type: SchemaType,
  schema: $ZodType,
  path: string,
  report: Report,
  isGeo = false,
): MakeDefault | undefined {
  const given = givenDefault(type)
  // An index of places refuses an empty list, so Mongoose stores none.
  if (given === undefined || (isGeo && Array.isArray(given) && given.length === 0)) return undefined
  const made =
    typeof given === 'function' ? calling(given, type, path, report) : castDefault(type, given)
  // Subdocuments have defaults of their own, and ids.
  return made && type.schema ? () => parse(schema, made()) : made
}

/** What the schema says, `undefined` for no default. Lists and mixed values are given functions that make copies. */
function givenDefault(type: SchemaType): unknown {
  const isList = type.instance === 'Array' || elementOf(type) !== undefined
  if (isList && !Object.hasOwn(type.options, 'default')) return []
  return isList || type.instance === 'Mixed' ? type.options.default : type.defaultValue
}

function castDefault(type: SchemaType, given: unknown): MakeDefault {
  const value = recordValueOf(attempt(() => type.getDefault?.(undefined, false)) ?? given)
  return () => copyOf(value)
}

/** A function that is known to need no document. */
const isClock = (given: unknown): boolean => given === Date.now || given === Date

function calling(
  given: object,
  type: SchemaType,
  path: string,
  report: Report,
): MakeDefault | undefined {
  if (isClock(given)) return () => recordTime(type.instance, new Date())
  const make = given as () => unknown
  // Arrow functions and the like have none of their own; a document is what the others are called for.
  const isOfDocument = /\bthis\b/.test(String(given)) || make.length > 0
  const [value, again] = isOfDocument ? [] : [attempt(make), attempt(make)].map(recordValueOf)
  if (value === undefined) {
    report.add(
      path,
      'default',
      'a function of the document: new records get no default. Use a `validate` hook',
      true,
    )
    return undefined
  }
  if (JSON.stringify(value) !== JSON.stringify(again)) {
    report.add(path, 'default', 'a function: called for new records, and never for older ones')
  }
  const isInstant = type.instance === 'Date'
  return () => {
    const made = recordValueOf(make())
    return isInstant && typeof made === 'number' ? new Date(made) : made
  }
}

/** `time`, a date or a number, as a path of the type `instance` holds it. */
export function recordTime(instance: string, time: unknown): unknown {
  switch (instance) {
    case 'Date':
      return new Date(time as Date)
    case 'Number':
    case 'Double':
    case 'Int32':
      return Number(time)
    case 'BigInt':
    case 'Long':
    case 'Decimal128':
      return String(Number(time))
    default:
      return String(time)
  }
}

function attempt(make: () => unknown): unknown {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** zod tells a default that is always the same by its text, so a date must be the same object. */
function copyOf(value: unknown): unknown {
  return typeof value === 'object' && !(value instanceof Date) ? structuredClone(value) : value
}
