/**
 * What a model demands of its records, in words that can be stored and compared: has the model changed since?
 *
 * @module
 */

import type { $ZodType } from 'zod/v4/core'
import type { Model } from './model.ts'
import { type Part, partsIn } from './parts.ts'
import { staticDefault } from './static-default.ts'
import { timestampFields } from './timestamps.ts'

/** What a model demands of each of its fields. */
export type Fingerprint = Readonly<Record<string, string>>

/** The fingerprint of `model`. Rules in functions are not in it: nobody can tell whether a function has changed. */
export function fingerprintOf({ fields, idType, timestamps }: Model): Fingerprint {
  const demands = Object.entries(fields).map(([field, schema]) => [field, demandsOf(schema)])
  return {
    _id: idType,
    ...Object.fromEntries(timestampFields(timestamps).map((name) => [name, 'date'])),
    ...Object.fromEntries(demands),
  }
}

/** The fields because of which records that were stored under `before` may not be as `model` says. */
export function changedFields(before: Fingerprint, model: Model): string[] {
  const now = fingerprintOf(model)
  const names = new Set([...Object.keys(before), ...Object.keys(now)])
  return [...names].filter((name) => {
    if (before[name] === now[name]) return false
    return before[name] !== undefined || !mayLack(model.fields[name])
  })
}

/** Whether old records fit without the field. With a default they do, but filters would not find it. */
function mayLack(schema: $ZodType | undefined): boolean {
  return schema?._zod.optin === 'optional' && schema._zod.optout === 'optional'
}

function demandsOf(schema: $ZodType): string {
  return partsIn(schema).parts.map(demandOf).join('\n')
}

function demandOf({ schema, path }: Part): string {
  const { def } = schema._zod
  const checks = (def.checks ?? []).map(({ _zod }) => settingsOf(_zod.def))
  const value = def.type === 'default' ? staticDefault(schema) : undefined
  return JSON.stringify([path, settingsOf(def), checks, value])
}

/** Other schemas, functions, and what only words messages or would be computed. */
const LEFT_OUT = new Set(['defaultValue', 'shape', 'getter', 'checks', 'error', 'message', 'abort'])

/** The settings of a schema or check that say which values it takes. */
function settingsOf(def: object): unknown[] {
  return Object.keys(def)
    .filter((name) => !LEFT_OUT.has(name))
    .sort()
    .flatMap((name) => {
      const value = settingOf((def as Readonly<Record<string, unknown>>)[name])
      return value === undefined ? [] : [[name, value]]
    })
}

function settingOf(value: unknown): unknown {
  if (value instanceof RegExp) return String(value)
  if (Array.isArray(value)) return value.every(isPlain) ? value.map(String) : undefined
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    return entries.every(([, one]) => isPlain(one)) ? entries.map(String) : undefined
  }
  return isPlain(value) && value !== undefined ? String(value) : undefined
}

function isPlain(value: unknown): boolean {
  return value === null || !['object', 'function'].includes(typeof value)
}
