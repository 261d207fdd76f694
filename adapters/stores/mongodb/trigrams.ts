/**
 * The trigram index that serves `contains`, for stores with `searchIndexes`.
 *
 * Each document keeps the trigrams of its folded texts in one more member, by path, and a multikey index over each
 * path finds the documents that may match; the pattern then looks at their texts, so trigrams too many do no harm. A
 * path without trigrams is null in the index and found with every term: so are documents that others have inserted,
 * very long texts, and what a change leaves behind that the kit cannot follow. Terms of fewer than three characters have no trigram
 * and are looked for in every document.
 *
 * @module
 */

import type { AnyBulkWriteOperation, Collection, Document, IndexDescriptionInfo } from 'mongodb'
import { fold } from '../../../src/ports/fold.ts'
import type { Change, Fields } from '../../../src/ports/store.ts'
import { drop } from './drop.ts'

/** The member of a document that holds its trigrams. */
export const TRIGRAMS = '_trigrams'

const LENGTH = 3
/** Of a text without trigrams: unlike an empty list it is not null in the index. */
const NO_TRIGRAM = ['']
/** A text with more than this many is looked at for every term. */
const MOST = 10_000
/** How many of a term's trigrams the database may choose among; each is a plan that it tries. */
const CHOICE = 4
/** How many documents are given their trigrams in one round trip. */
const BATCH = 1000

const memberOf = (path: string): string => `${TRIGRAMS}.${keyOf(path)}`
/** A dot would be a path to MongoDB. */
const keyOf = (path: string): string => path.replaceAll('~', '~0').replaceAll('.', '~1')

/** The conditions that hold for each document in which the text at `path` contains `text`. */
export function candidates(path: string, text: string): Document[] {
  const trigrams = trigramsOf(text)
  const step = Math.max(1, Math.ceil(trigrams.length / CHOICE))
  return trigrams
    .filter((_, index) => index % step === 0)
    .map((trigram) => ({ [memberOf(path)]: { $in: [trigram, null] } }))
}

/** Gives a new document the trigrams of its texts at `paths`. */
export function addTrigrams(document: Document, paths: readonly string[]): void {
  // A Map stands for a record that bson would take for one of its own types; it is found without trigrams.
  if (paths.length === 0 || document instanceof Map) return
  document[TRIGRAMS] = Object.fromEntries(
    paths.map((path) => [keyOf(path), trigramsAt(document, path)]),
  )
}

/** The stages that follow those of `change` in its pipeline, so that the trigrams follow the texts. */
export function trigramStages(change: Change, paths: readonly string[]): Document[] {
  const known: Record<string, Document> = {}
  const unknown: string[] = []
  for (const path of paths) {
    const touching = fieldsOf(change).filter(
      (field) => isWithin(path, field) || isWithin(field, path),
    )
    const [field] = touching
    if (field === undefined) continue
    const { set = {}, unset = [] } = change
    const isReplaced = isWithin(path, field) && (Object.hasOwn(set, field) || unset.includes(field))
    const trigrams =
      touching.length === 1 && isReplaced
        ? trigramsAt(set[field], path.slice(field.length + 1))
        : undefined
    if (trigrams) known[memberOf(path)] = { $literal: trigrams }
    else unknown.push(memberOf(path))
  }
  return [
    ...(Object.keys(known).length > 0 ? [{ $set: known }] : []),
    ...(unknown.length > 0 ? [{ $unset: unknown }] : []),
  ]
}

/**
 * Makes the indexes over `paths`, gives trigrams to the documents that have none, and drops what `existing` holds of
 * other paths.
 */
export async function prepareTrigrams(
  native: Collection,
  existing: readonly IndexDescriptionInfo[],
  paths: readonly string[],
): Promise<void> {
  const wanted = paths.map(memberOf)
  for (const index of existing) {
    const [member = ''] = Object.keys(index.key)
    if (!member.startsWith(`${TRIGRAMS}.`) || wanted.includes(member)) continue
    // The index goes last: it tells that the rest still has to.
    await native.updateMany({ [member]: { $ne: null } }, [{ $unset: member }])
    await drop(native, index)
  }
  if (paths.length === 0) return
  const members = existing.flatMap(({ key }) => Object.keys(key))
  const added = paths.filter((path) => !members.includes(memberOf(path)))
  // An index is built faster than it grows. Trigrams that are there without one may be older than their texts.
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
    const trigrams = paths
      .map((path) => [memberOf(path), trigramsAt(document, path)] as const)
      .filter(([, found]) => found !== undefined)
    if (trigrams.length === 0) continue
    // A write in between has brought its own.
    const unchanged = fields.map((field) => isStill(field, document[field]))
    writes.push({
      updateOne: {
        filter: { _id: document._id, $expr: { $and: unchanged } },
        update: { $set: Object.fromEntries(trigrams) },
      },
    })
    if (writes.length === BATCH) await flush()
  }
  await flush()
}

function isStill(field: string, value: unknown): Document {
  if (value === undefined) return { $eq: [{ $type: `$${field}` }, 'missing'] }
  return { $eq: [`$${field}`, { $literal: value }] }
}

/** Every field that a change names. */
function fieldsOf({ set = {}, unset = [], increment, push, pull }: Change): string[] {
  const replaced = Object.keys(set).filter((field) => set[field] !== undefined)
  return [
    replaced,
    unset,
    ...[increment, push, pull].map((member) => Object.keys(member ?? {})),
  ].flat()
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`)
}

/** The distinct trigrams of all texts at `path` of `value`; undefined where they are too many. */
function trigramsAt(value: unknown, path: string): readonly string[] | undefined {
  const trigrams = new Set<string>()
  for (const text of textsAt(value, path === '' ? [] : path.split('.'))) {
    for (const trigram of trigramsOf(text)) trigrams.add(trigram)
  }
  if (trigrams.size > MOST) return undefined
  return trigrams.size > 0 ? [...trigrams] : NO_TRIGRAM
}

function textsAt(value: unknown, [key, ...rest]: readonly string[]): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((one) => textsAt(one, key === undefined ? [] : [key, ...rest]))
  }
  if (key === undefined) return typeof value === 'string' ? [value] : []
  return typeof value === 'object' && value !== null ? textsAt((value as Fields)[key], rest) : []
}

function trigramsOf(text: string): string[] {
  const characters = [...fold(text)]
  return characters
    .slice(0, Math.max(0, characters.length - LENGTH + 1))
    .map((_, index) => characters.slice(index, index + LENGTH).join(''))
}
