/**
 * The index that serves `contains`, for stores with `searchIndexes`.
 *
 * Each document keeps the six-character substrings of its folded searchable strings, the grams, in an extra member, by
 * path. A multikey index over each path finds the documents that may match; the pattern then checks their strings, so
 * extra grams do no harm. Trigrams would work too, but every string contains some that a million others share. A path
 * without grams is null in the index and found with every term: this covers documents that other programs have
 * inserted, very long strings, and changes that fieldgate cannot follow. Terms of fewer than three characters scan
 * every document.
 *
 * @module
 */

import {
  type AnyBulkWriteOperation,
  BSONRegExp,
  type Collection,
  type Document,
  type IndexDescriptionInfo,
} from 'mongodb'
import { fold } from '../../../src/ports/fold.ts'
import { isWithin } from '../../../src/ports/paths.ts'
import type { Change, Fields } from '../../../src/ports/store.ts'
import { changedPaths } from '../changed.ts'
import { escaped } from './contains.ts'
import { drop } from './drop.ts'

/** The member of a document that holds its grams. */
export const GRAMS = '_grams'

/** The characters of a gram; at the end of a string it has fewer. */
const LONGEST = 6
/** A shorter term scans every document. */
const SHORTEST = 3
/** For a string without grams: unlike an empty list, it is not null in the index. */
const NO_GRAM = ['']
/** A string with more grams than this is checked for every term. */
const MOST = 10_000
/** How many of a term's grams the database may choose among; it tries a plan for each. */
const CHOICE = 4
/** How many documents get their grams in one round trip. */
const BATCH = 1000

const memberOf = (path: string): string => `${GRAMS}.${keyOf(path)}`
/** A dot would be a path to MongoDB. */
const keyOf = (path: string): string => path.replaceAll('~', '~0').replaceAll('.', '~1')

/** The conditions that hold for each document whose string at `path` contains `text`. */
export function candidates(path: string, text: string): Document[] {
  const member = memberOf(path)
  const characters = [...fold(text)]
  if (characters.length < SHORTEST) return []
  if (characters.length < LONGEST) {
    const start = new BSONRegExp(`^${characters.map(escaped).join('')}`)
    return [{ [member]: { $in: [start, null] } }]
  }
  const grams = gramsOf(characters).slice(0, characters.length - LONGEST + 1)
  const step = Math.ceil(grams.length / CHOICE)
  return grams
    .filter((_, index) => index % step === 0)
    .map((gram) => ({ [member]: { $in: [gram, null] } }))
}

/** Adds the grams of its strings at `paths` to a new document. */
export function addGrams(document: Document, paths: readonly string[]): void {
  // A Map is a record that bson would take for one of its own types; it is found without grams.
  if (paths.length === 0 || document instanceof Map) return
  document[GRAMS] = Object.fromEntries(paths.map((path) => [keyOf(path), gramsAt(document, path)]))
}

/** The pipeline stages after those of `change` that update the grams with the strings. */
export function gramStages(change: Change, paths: readonly string[]): Document[] {
  const known: Record<string, Document> = {}
  const unknown: string[] = []
  for (const path of paths) {
    const touching = changedPaths(change).filter(
      (field) => isWithin(path, field) || isWithin(field, path),
    )
    if (touching.length === 0) continue
    const grams = replacedGrams(change, touching, path)
    if (grams) known[memberOf(path)] = { $literal: grams }
    else unknown.push(memberOf(path))
  }
  return [
    ...(Object.keys(known).length > 0 ? [{ $set: known }] : []),
    ...(unknown.length > 0 ? [{ $unset: unknown }] : []),
  ]
}

/** The grams at `path` once one of the fields `touching` it is replaced; undefined if that cannot be told. */
function replacedGrams(
  { set = {}, unset = [] }: Change,
  touching: readonly string[],
  path: string,
): readonly string[] | undefined {
  const [field = ''] = touching
  const isReplaced = isWithin(path, field) && (Object.hasOwn(set, field) || unset.includes(field))
  if (touching.length > 1 || !isReplaced) return undefined
  return gramsAt(set[field], path.slice(field.length + 1))
}

/**
 * Creates the indexes over `paths`, adds grams to the documents that have none, and drops those in `existing` of other
 * paths.
 */
export async function prepareGrams(
  native: Collection,
  existing: readonly IndexDescriptionInfo[],
  paths: readonly string[],
): Promise<void> {
  const wanted = paths.map(memberOf)
  for (const index of existing) {
    const [member = ''] = Object.keys(index.key)
    if (!member.startsWith(`${GRAMS}.`) || wanted.includes(member)) continue
    // The index goes last: as long as it exists, the rest still has to go.
    await native.updateMany({ [member]: { $ne: null } }, [{ $unset: member }])
    await drop(native, index)
  }
  if (paths.length === 0) return
  const members = existing.flatMap(({ key }) => Object.keys(key))
  const added = paths.filter((path) => !members.includes(memberOf(path)))
  // An index is built faster than it grows. Grams without an index may be older than their strings.
  if (added.length > 0) await backfill(native, added, {})
  for (const path of added) {
    await native.createIndex({ [memberOf(path)]: 1 }, { name: `search(${path})` })
  }
  await backfill(native, paths, { $or: paths.map((path) => ({ [memberOf(path)]: null })) })
}

async function backfill(
  native: Collection,
  paths: readonly string[],
  filter: Document,
): Promise<void> {
  const fields = [...new Set(paths.map((path) => path.split('.')[0] ?? path))]
  const projection = Object.fromEntries(fields.map((field) => [field, 1]))
  let writes: AnyBulkWriteOperation[] = []
  const flush = async () => {
    if (writes.length > 0) await native.bulkWrite(writes, { ordered: false })
    writes = []
  }
  for await (const document of native.find(filter, { projection })) {
    // A write in between has added its own.
    const unchanged = fields.map((field) => isStill(field, document[field]))
    writes.push({
      updateOne: {
        filter: { _id: document._id, $expr: { $and: unchanged } },
        update: gramsOfAll(document, paths),
      },
    })
    if (writes.length === BATCH) await flush()
  }
  await flush()
}

/** The update that gives a document its grams, and removes those of strings that have too many. */
function gramsOfAll(document: Document, paths: readonly string[]): Document {
  const update: { $set?: Document; $unset?: Document } = {}
  for (const path of paths) {
    const grams = gramsAt(document, path)
    if (grams) update.$set = { ...update.$set, [memberOf(path)]: grams }
    else update.$unset = { ...update.$unset, [memberOf(path)]: '' }
  }
  return update
}

/** The condition that a field holds exactly this value of BSON; `undefined` means that it is absent. */
export function isStill(field: string, value: unknown): Document {
  if (value === undefined) return { $eq: [{ $type: `$${field}` }, 'missing'] }
  return { $eq: [`$${field}`, { $literal: value }] }
}

/** The distinct grams of all strings at `path` of `value`; undefined if there are too many. */
function gramsAt(value: unknown, path: string): readonly string[] | undefined {
  const grams = new Set<string>()
  for (const text of textsAt(value, path === '' ? [] : path.split('.'))) {
    for (const gram of gramsOf([...fold(text)])) grams.add(gram)
  }
  if (grams.size > MOST) return undefined
  return grams.size > 0 ? [...grams] : NO_GRAM
}

function textsAt(value: unknown, [key, ...rest]: readonly string[]): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((one) => textsAt(one, key === undefined ? [] : [key, ...rest]))
  }
  if (key === undefined) return typeof value === 'string' ? [value] : []
  return typeof value === 'object' && value !== null ? textsAt((value as Fields)[key], rest) : []
}

/** The gram that starts at each character, unless it is too short to be searched for. */
function gramsOf(characters: readonly string[]): string[] {
  return characters
    .slice(0, Math.max(0, characters.length - SHORTEST + 1))
    .map((_, index) => characters.slice(index, index + LONGEST).join(''))
}
