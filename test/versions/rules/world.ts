/**
 * What must be stored, and what each version's rules say of a write: the manual's rules, without the product's code.
 *
 * @module
 */

import type { Reference, Version } from './version.ts'

/** A stored record, without its id. */
export type Doc = Readonly<Record<string, unknown>>

/** What is stored: items under all names that their fields have had. */
export class World {
  readonly owners = new Map<string, Doc>()
  readonly items = new Map<string, Doc>()
  /** The rules whose start has looked at the records. */
  readonly looked = new Set<string>()
}

/** The record under the names of now. */
export function current({ renamed }: Version, doc: Doc): Doc {
  const now: Record<string, unknown> = { ...doc }
  for (const [old, to] of Object.entries(renamed).reverse()) {
    if (now[old] === undefined) continue
    now[to] = now[old]
    delete now[old]
  }
  return now
}

/** The record as reads show it, in the version's own words. */
export function filled(version: Version, doc: Doc): Doc {
  const now = { ...current(version, doc) }
  const { status, byDefault } = version
  return now[status] === undefined && byDefault !== undefined
    ? { ...now, [status]: byDefault }
    : now
}

export function shown(version: Version, doc: Doc): Doc {
  const { room, from, to, status, references } = version
  const names = new Set(['title', room, from, to, status, ...references.map(({ name }) => name)])
  const all = Object.entries(filled(version, doc))
  return Object.fromEntries(all.filter(([name, value]) => names.has(name) && value !== undefined))
}

/** The fields that can't be kept under two names. */
export function keptFields(version: Version): string[] {
  const { references, transitions, initial, exclude, status, from, to } = version
  return [
    ...references.filter(({ onDelete }) => onDelete).map(({ name }) => name),
    ...(transitions || initial ? [status] : []),
    ...exclude.flatMap(({ equal, where }) => [...equal, from, to, ...Object.keys(where ?? {})]),
  ]
}

export function placeOf(
  { from, to }: Version,
  { equal, where }: Version['exclude'][number],
): string {
  return JSON.stringify([equal, [from, to], where ?? {}])
}

type Rule = Version['exclude'][number]

/** Whether the record counts in the rule; with its range. */
function rangeIn(
  version: Version,
  { equal, where }: Rule,
  doc: Doc,
): readonly [number, number] | undefined {
  const whole = filled(version, doc)
  const [from, to] = [whole[version.from], whole[version.to]] as [
    number | undefined,
    number | undefined,
  ]
  const lacks = equal.some((name) => whole[name] === undefined)
  const counts = Object.entries(where ?? {}).every(([name, some]) =>
    some.includes(whole[name] as string),
  )
  return from === undefined || to === undefined || lacks || !counts ? undefined : [from, to]
}

/** Whether two records overlap. */
function overlap(version: Version, rule: Rule, one: Doc, other: Doc): boolean {
  const [a, b] = [rangeIn(version, rule, one), rangeIn(version, rule, other)]
  if (!a || !b || a[0] >= a[1] || b[0] >= b[1] || a[0] >= b[1] || b[0] >= a[1]) return false
  const [x, y] = [current(version, one), current(version, other)]
  return rule.equal.every((name) => x[name] === y[name])
}

/** Whether stored records overlap. */
export function overlaps(version: Version, rule: Rule, { items }: World): boolean {
  const all = [...items.values()]
  return all.some((one, at) =>
    all.slice(at + 1).some((other) => overlap(version, rule, one, other)),
  )
}

/** A write of an item under the names of now. */
interface Write {
  /** Of a change. */
  readonly id?: string
  readonly before?: Doc
  readonly changes: Doc
  readonly after: Doc
}

/** The statuses with which a write of an item may be refused; none, if it must be taken. */
export function refusals(version: Version, world: World, write: Write): number[] {
  return [
    ...referenceRefusals(version, world, write),
    ...statusRefusals(version, write),
    ...version.exclude.flatMap((rule) => rangeRefusals(version, rule, world, write)),
  ]
}

function referenceRefusals(version: Version, world: World, { id, changes }: Write): number[] {
  const isThere = (to: 'owner' | 'item') => (one: string) =>
    to === 'owner' ? world.owners.has(one) : world.items.has(one) || one === id
  const missing = version.references.filter(
    ({ name, to, onDelete }) => onDelete && !idsIn(changes[name]).every(isThere(to)),
  )
  return missing.map(() => 400)
}

function rangeRefusals(version: Version, rule: Rule, world: World, write: Write): number[] {
  const { id, before, changes, after } = write
  const fields = [...rule.equal, version.from, version.to, ...Object.keys(rule.where ?? {})]
  if (before && !fields.some((name) => name in changes)) return []
  const { [version.from]: from, [version.to]: to } = after
  const isEmpty = from !== undefined && to !== undefined && Number(to) <= Number(from)
  const others = [...world.items].filter(([other]) => other !== id)
  const isMet = others.some(([, doc]) => overlap(version, rule, after, doc))
  return [...(isEmpty ? [400] : []), ...(isMet ? [409] : [])]
}

function statusRefusals(version: Version, { before, changes, after }: Write): number[] {
  const { status, transitions, initial, byDefault } = version
  const isFirst = (value: unknown) => !initial || initial.includes(String(value))
  if (!before) {
    const first = after[status] ?? byDefault
    return first === undefined || isFirst(first) ? [] : [400]
  }
  if (!transitions || !(status in changes)) return []
  const from = before[status] ?? byDefault ?? null
  const to = changes[status]
  const isAllowed = from === null ? isFirst(to) : transitions[String(from)]?.includes(String(to))
  return from === to || isAllowed ? [] : [409]
}

/** The ids of a reference, or of a list of them. */
function idsIn(value: unknown): string[] {
  return value === undefined || value === null ? [] : [value].flat().map(String)
}

/** What a removal does: the ids that go, and what stays without a reference; undefined if it is refused. */
export function removal(
  version: Version,
  world: World,
  kind: 'owner' | 'item',
  id: string,
): { readonly gone: ReadonlySet<string>; readonly unset: ReadonlyMap<string, Doc> } | undefined {
  const gone = { owner: new Set<string>(), item: new Set<string>() }
  gone[kind].add(id)
  const refers = (doc: Doc, how: string) =>
    version.references.filter(({ name, to, onDelete }) => {
      return onDelete === how && idsIn(current(version, doc)[name]).some((one) => gone[to].has(one))
    })
  for (let size = -1; size !== gone.item.size; ) {
    size = gone.item.size
    for (const [one, doc] of world.items) if (refers(doc, 'cascade').length > 0) gone.item.add(one)
  }
  const staying = [...world.items].filter(([one]) => !gone.item.has(one))
  if (staying.some(([, doc]) => refers(doc, 'restrict').length > 0)) return undefined
  const unset = staying.flatMap(([one, doc]) => {
    const some = refers(doc, 'unset')
    return some.length > 0 ? [[one, without(version, doc, some, gone)] as const] : []
  })
  return { gone: gone.item, unset: new Map(unset) }
}

/** What is stored without the references to what is gone. */
function without(
  version: Version,
  doc: Doc,
  references: readonly Reference[],
  gone: Readonly<Record<Reference['to'], ReadonlySet<string>>>,
): Doc {
  // A list is written anew, and a write of one record moves it to the names of now.
  const isMoved = references.some(({ inList }) => inList)
  const now: Record<string, unknown> = { ...(isMoved ? current(version, doc) : doc) }
  for (const { name, to, inList } of references) {
    const left = idsIn(current(version, now)[name]).filter((one) => !gone[to].has(one))
    for (const old of Object.keys(now)) if (version.renamed[old] === name) delete now[old]
    if (inList) now[name] = left
    else delete now[name]
  }
  return now
}
