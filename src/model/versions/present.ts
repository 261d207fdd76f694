/** What a response may show: declared fields only, without hidden ones, then passed through the model's `output`. */

import { isPromise } from '../../ports/promises/synchronous.ts'
import { mapInTurns, TURN_LENGTH } from '../../ports/promises/turns.ts'
import { onlyDeclared, withDefaults } from '../../ports/store/declared.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields, Projection, Read } from '../../ports/store/records.ts'
import { placeOf } from '../../ports/store/shape.ts'
import type { Collection } from '../../ports/store/store.ts'
import { setMember } from '../../ports/values/members.ts'
import { topOf } from '../../ports/values/paths.ts'
import { isHidden, type Model } from '../model.ts'
import { isFields } from '../writable.ts'
import { converted } from './upgrade.ts'

/**
 * A client's or hook's selection of fields, narrowed to what may be shown: of the top-level fields only `allowed`, if it
 * is given. If all names start with `-`, the named fields are left out; otherwise only the named fields stay.
 */
export function visible(
  model: Model,
  select: readonly string[] = [],
  allowed?: ReadonlySet<string>,
): Projection | undefined {
  const named = select.filter((name) => !name.startsWith('-'))
  if (named.length > 0) {
    const isAllowed = (path: string) => !allowed || allowed.has(topOf(path))
    return only(named.filter(isAllowed).flatMap((path) => visiblePaths(model, path)))
  }
  const dropped = select.map((name) => name.slice(1)).filter((name) => name !== '_id')
  const hidden = [...model.hidden, ...dropped]
  if (allowed) return only([...allowed].flatMap((path) => visiblePaths({ ...model, hidden }, path)))
  return hidden.length > 0 || select.length > 0 ? { exclude: hidden } : undefined
}

function only(paths: readonly string[]): Projection {
  return { include: paths.length > 0 ? paths : ['_id'] }
}

/** `path`; if something inside it is hidden, the paths inside it that may be shown. */
export function visiblePaths(model: Pick<Model, 'shape' | 'hidden'>, path: string): string[] {
  if (!isHidden(model, path)) return [path]
  const shape = placeOf(model.shape, path)?.shape
  if (shape?.kind !== 'object') return []
  return [...shape.fields.keys()].flatMap((key) => visiblePaths(model, `${path}.${key}`))
}

/** `record` as `model` declares it: only that, old values converted, and with defaults unless `lean`. Hidden ones stay. */
export function declaredPart(model: Model, record: Fields, how: Shown = {}): Fields {
  return declaredParts(model, [record], how)[0] as Fields
}

interface Shown {
  readonly select?: Projection | undefined
  readonly lean?: boolean
}

export function declaredParts(
  model: Model,
  records: readonly Fields[],
  { select, lean = false }: Shown,
): Fields[] {
  const parts: Fields[] = []
  for (const record of records) {
    const stored = model.convert ? converted(model, record) : record
    const shown = onlyDeclared(model.declared, stored) as Fields
    const whole = lean ? shown : (withDefaults(model.declared, shown) as Fields)
    parts.push(whole === shown ? shown : project(whole, select))
  }
  return parts
}

/**
 * The records of `read`. Those that are only sent are parsed from the store's JSON: to make Dates of texts, and texts of
 * Dates again, takes longer than all else that is done to a record.
 */
export async function declaredRecords(
  model: Model,
  stored: Collection,
  read: Read,
  { lean, isSent }: { readonly lean: boolean; readonly isSent: boolean },
): Promise<readonly Fields[]> {
  if (!isSent || model.convert || !stored.findJson) {
    return declaredParts(model, await stored.find(read), { select: read.select, lean })
  }
  const texts = await stored.findJson({ ...read, fillDefaults: !lean })
  const parsed = (text: string): Fields => JSON.parse(text)
  let length = 0
  for (const text of texts) length += text.length
  return length < TURN_LENGTH ? texts.map(parsed) : mapInTurns(texts, (text) => text.length, parsed)
}

/** The part of what `output` returned that a client chose. */
export function shownPart(shown: unknown, chosen: Projection | undefined): unknown {
  return chosen && isFields(shown) ? project(shown, chosen) : shown
}

/** A record as responses show it: `output` applied, unless `lean`. */
export function present(model: Model, record: Fields, lean: boolean): unknown {
  if (!model.output || lean) return record
  const shown: unknown = model.output(record as never)
  if (shown !== undefined && !isPromise(shown)) return shown
  throw new TypeError(
    `'output' of model '${model.name}' returned ${shown ? 'a promise' : 'nothing'}. Return what is shown: output: (record) => ({ … })`,
  )
}

/** A copy of `value` at every depth. `structuredClone` would take long for many small objects. */
export function copied<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return new Date(value) as T
  if (Array.isArray(value)) return value.map(copied) as T
  const copy: Fields = {}
  for (const [key, item] of Object.entries(value)) setMember(copy, key, copied(item))
  return copy as T
}
