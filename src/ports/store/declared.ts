/** What a model declares of its stored records. Nothing else is ever shown. */

import { changedList } from '../values/members.ts'

/**
 * The declaration of one place in a record. A place may declare an object, a list, or both (a union of them); numbers,
 * strings and other plain values are allowed everywhere. A recursive model gives a cyclic graph.
 */
export interface Declared {
  /** Whether any value is allowed here: `z.unknown()`, the result of a transform and the like. */
  readonly open: boolean
  /** The members of an object here, by name; undefined if no object is declared. */
  readonly members: ReadonlyMap<string, Declared> | undefined
  /** The members with any other name: of a `z.record()` or a loose object. */
  readonly rest: Declared | undefined
  /** The elements of a list here; undefined if no list is declared. */
  readonly elements: Declared | undefined
  /** Values for members of an object here that older records lack: the defaults that are always the same. */
  readonly defaults?: ReadonlyMap<string, unknown> | undefined
}

/**
 * `value` without what `declared` does not declare: `value` itself if nothing has to go, otherwise a copy. An object at
 * a place that declares none becomes undefined, and is left out of the object or list that holds it.
 */
export function onlyDeclared(declared: Declared, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || declared.open) return value
  if (value instanceof Date) return value
  return Array.isArray(value) ? onlyElements(declared, value) : onlyMembers(declared, value)
}

/**
 * `value` with the declared defaults of members that it lacks: `value` itself if it lacks none, otherwise a copy. Null is
 * a value, so it stays.
 */
export function withDefaults(declared: Declared, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (!hasDefaults(declared)) return value
  if (!Array.isArray(value)) return withDefaultsInObject(declared, value as Members)
  const { elements } = declared
  return elements ? changedList(value, (item) => withDefaults(elements, item)) : value
}

/** Whether `declared` names defaults, at any depth. */
function hasDefaults(declared: Declared): boolean {
  const known = defaulted.get(declared)
  if (known !== undefined) return known
  const found = [...placesIn(declared)].some(({ defaults }) => defaults && defaults.size > 0)
  defaulted.set(declared, found)
  return found
}

const defaulted = new WeakMap<Declared, boolean>()

/** Places beyond these come from functions that make a new schema at each level; they are not looked at. */
const MOST_PLACES = 2000

/** `declared` and every place inside it, each once. */
function placesIn(declared: Declared): ReadonlySet<Declared> {
  const places = new Set([declared])
  for (const { open, members, rest, elements } of places) {
    if (open || places.size > MOST_PLACES) continue
    for (const inside of [...(members?.values() ?? []), rest, elements]) {
      if (inside) places.add(inside)
    }
  }
  return places
}

type Members = Readonly<Record<string, unknown>>

function withDefaultsInObject(declared: Declared, object: Members): unknown {
  let filled = withDefaultsInMembers(declared, object)
  for (const [key, value] of declared.defaults ?? []) {
    if (object[key] !== undefined) continue
    filled ??= { ...object }
    // It is never shared between records. Copying a string would cost more than the rest of a record.
    filled[key] = typeof value === 'object' ? structuredClone(value) : value
  }
  return filled ?? object
}

/** A copy with the defaults inside of members; undefined if none is missing there. */
function withDefaultsInMembers(
  declared: Declared,
  object: Members,
): Record<string, unknown> | undefined {
  let filled: Record<string, unknown> | undefined
  for (const [key, item] of Object.entries(object)) {
    const member = typeof item === 'object' && item !== null ? memberOf(declared, key) : undefined
    const whole = member ? withDefaults(member, item) : item
    if (whole === item) continue
    filled ??= { ...object }
    filled[key] = whole
  }
  return filled
}

/** The declaration at a dotted path that leads through objects; undefined if nothing is declared there. */
export function declaredAt(declared: Declared, path: string): Declared | undefined {
  let at: Declared | undefined = declared
  for (const key of path.split('.')) {
    if (!at || at.open) return at
    at = memberOf(at, key)
  }
  return at
}

/** Whether everything in `value`, which is at a dotted path, is declared, and no default is missing. */
export function isWhole(declared: Declared, value: unknown, path?: string): boolean {
  const place = path === undefined ? declared : declaredAt(declared, path)
  if (!place) return false
  return onlyDeclared(place, value) === value && withDefaults(place, value) === value
}

function onlyElements(declared: Declared, list: readonly unknown[]): unknown {
  // Other programs that write to MongoDB store lists where one value is declared, and the reverse.
  const element = declared.elements ?? declared
  let kept: unknown[] | undefined
  for (let at = 0; at < list.length; at += 1) {
    const item = list[at]
    const shown = onlyDeclared(element, item)
    if (shown !== item) kept ??= list.slice(0, at)
    if (kept && (shown !== undefined || item === undefined)) kept.push(shown)
  }
  return kept ?? list
}

function onlyMembers(declared: Declared, object: object): unknown {
  const { members, rest } = declared
  if (!members && !rest) return undefined
  if (!Object.hasOwn(object, '__proto__')) return keepDeclared(declared, object as Members)
  // No model declares `__proto__`, and assigning it would set the prototype of the copy.
  const others = Object.entries(object).filter(([key]) => key !== '__proto__')
  return keepDeclared(declared, Object.fromEntries(others))
}

function keepDeclared({ members, rest }: Declared, fields: Members): unknown {
  const keys = Object.keys(fields)
  let kept: Record<string, unknown> | undefined
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] as string
    const item = fields[key]
    const member = members?.get(key) ?? rest
    // Most members are plain values: a call for each of them would cost as much as all the rest.
    const isObject = typeof item === 'object' && item !== null && !(item instanceof Date)
    const shown = member && (isObject ? onlyDeclared(member, item) : item)
    if (shown !== item) kept ??= pick(fields, keys, at)
    if (kept && shown !== undefined) kept[key] = shown
  }
  return kept ?? fields
}

/** No model declares `__proto__`, and assigning it would set the prototype of the copy. */
function memberOf({ members, rest }: Declared, key: string): Declared | undefined {
  return members?.get(key) ?? (key === '__proto__' ? undefined : rest)
}

function pick(fields: Members, keys: readonly string[], count: number): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const key of keys.slice(0, count)) kept[key] = fields[key]
  return kept
}
