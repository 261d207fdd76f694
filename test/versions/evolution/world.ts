/**
 * What must be stored, as a map of records, and what a version shows of it: the manual's rules, without the product's code.
 *
 * @module
 */

import { convertedTo, DEFAULTED, defaultOf, type Field, fits, type Version } from './version.ts'

/** A stored record, without its id; dates are texts. */
export type Doc = Readonly<Record<string, unknown>>

/** The record under the names of now. */
export function renamedDoc({ renamed }: Version, doc: Doc): Doc {
  const now: Record<string, unknown> = { ...doc }
  for (const [old, to] of Object.entries(renamed).reverse()) {
    if (now[old] === undefined) continue
    now[to] = now[old]
    delete now[old]
  }
  return now
}

/** The record as a backfill stores it; undeclared values stay. */
export function upgradedDoc(version: Version, doc: Doc): Doc {
  const now: Record<string, unknown> = { ...renamedDoc(version, doc) }
  for (const [name, field] of Object.entries(version.fields)) {
    const value = now[name]
    if (field.convert && value !== undefined && !isWhole(field, value)) {
      const made = convertedTo(field, value)
      if (fits(field, made)) now[name] = made
    }
    if (now[name] === undefined && field.presence === 'default')
      now[name] = filled(field, defaultOf(field))
    else if (now[name] !== undefined) now[name] = filled(field, now[name])
  }
  return now
}

/** Whether a value needs no conversion. */
function isWhole(field: Field, value: unknown): boolean {
  if (!fits(field, value)) return false
  return !isObject(value) || Object.keys(value).every((name) => field.parts.includes(name))
}

/** The value with the defaults of its members. */
export function filled({ kind, parts }: Field, value: unknown): unknown {
  if (kind !== 'obj' || !isObject(value) || !parts.includes(DEFAULTED)) return value
  return value[DEFAULTED] === undefined ? { ...value, [DEFAULTED]: 'dd' } : value
}

/** What responses show of the record. */
export function shownDoc(version: Version, doc: Doc): Doc {
  const now = upgradedDoc(version, doc)
  const shown = Object.entries(version.fields).flatMap(([name, field]) => {
    const { kind, parts, presence: default_ } = field
    if (now[name] === undefined || version.hidden.includes(name)) return []
    const value = now[name]
    // No object is shown where none is declared.
    if (isObject(value) && kind !== 'obj')
      return default_ === 'default' ? [[name, defaultOf(field)]] : []
    if (!isObject(value)) return [[name, value] as const]
    return [
      [
        name,
        Object.fromEntries(Object.entries(value).filter(([at]) => parts.includes(at))),
      ] as const,
    ]
  })
  const times = version.timestamps ? TIMES.filter((name) => now[name] !== undefined) : []
  return {
    ...Object.fromEntries([...shown, ...times.map((name) => [name, now[name]])]),
    ...(version.output && { extra: 'x' }),
  }
}

export const TIMES = ['createdAt', 'updatedAt'] as const

/** The problems that a check finds in the record. */
export function problemsOf(version: Version, doc: Doc): string[] {
  const now = upgradedDoc(version, doc)
  const times = version.timestamps ? TIMES : []
  const declared = new Set<string>([...Object.keys(version.fields), ...times])
  const held = Object.keys(now).filter((name) => now[name] !== undefined)
  return [
    ...Object.entries(version.fields).flatMap(([name, field]) => misfitsOf(name, field, now[name])),
    ...times.filter((name) => now[name] === undefined).map((name) => `missing ${name}`),
    ...held.filter((name) => !declared.has(name)).map((name) => `undeclared ${name}`),
  ]
}

function misfitsOf(name: string, field: Field, value: unknown): string[] {
  if (value === undefined) return field.presence === 'required' ? [`missing ${name}`] : []
  const members = isObject(value) ? Object.keys(value) : []
  const others = members.filter((one) => field.kind !== 'obj' || !field.parts.includes(one))
  return [
    ...(fits(field, value) ? [] : [`misfit ${name}`]),
    ...others.map((one) => `undeclared ${name}.${one}`),
  ]
}

/** What the record holds at a path, by which filters, sorts and searches go. */
export function heldAt(version: Version, doc: Doc, path: string): unknown {
  const [name = '', member] = path.split('.')
  const value = renamedDoc(version, doc)[name]
  if (member === undefined) return value
  return isObject(value) ? value[member] : undefined
}

/** Whether a record with the value is found by the condition. */
export function matches(held: unknown, [op, wanted]: readonly [string, unknown]): boolean {
  const all = Array.isArray(held) ? held : [held]
  if (op === 'in') return (wanted as unknown[]).some((one) => all.includes(one))
  if (op === 'eq' && wanted === null) return held === undefined || held === null
  if (op === 'eq') return all.includes(wanted)
  return all.some((one) => typeof one === typeof wanted && compare(one, wanted) >= 0)
}

/** By value; texts by code point, and nothing before anything. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (a === undefined) return -1
  if (b === undefined) return 1
  if (typeof a === 'string' && typeof b === 'string') {
    const [x, y] = [[...a], [...b]]
    for (let at = 0; at < Math.min(x.length, y.length); at += 1) {
      const step = (x[at]?.codePointAt(0) ?? 0) - (y[at]?.codePointAt(0) ?? 0)
      if (step !== 0) return step
    }
    return x.length - y.length
  }
  return Number(a) - Number(b)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
