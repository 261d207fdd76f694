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
 * Among 100,000 names of cities a rare term is found in 1.3 ms instead of 130 to 250 ms; an insert takes 5.7 ms instead of
 * 1.0 ms, and the documents are 3.7 times as large.
 */

import { BSONRegExp, type Document } from 'mongodb'
import { valuesAt } from '../../../../src/ports/evaluation/evaluate.ts'
import type { Shape } from '../../../../src/ports/store/shape.ts'
import type { Change } from '../../../../src/ports/store/store.ts'
import { fold } from '../../../../src/ports/values/fold.ts'
import { isWithin } from '../../../../src/ports/values/paths.ts'
import { changedPaths } from '../../planner/change.ts'

/** The member of a document that holds its grams. */
export const GRAMS = '_grams'

/** The paths with a search index; undefined in a store without `searchIndexes`, which keeps no grams. */
export type Indexed = readonly string[] | undefined

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

export const memberOf = (path: string): string => `${GRAMS}.${keyOf(path)}`
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
export function addGrams(document: Document, paths: Indexed = []): void {
  // A Map is a record that bson would take for one of its own types; it is found without grams.
  if (paths.length === 0 || document instanceof Map) return
  document[GRAMS] = Object.fromEntries(paths.map((path) => [keyOf(path), gramsAt(document, path)]))
}

/** The kinds of values that no string is in. */
const TEXTLESS: ReadonlySet<string | undefined> = new Set(['number', 'boolean', 'date'])

/**
 * The pipeline stages after those of `change` that update the grams with the strings. Grams of other paths go: another
 * version of the app may keep them. `shapeOf` tells what a changed field holds.
 */
export function gramStages(
  change: Change,
  paths: Indexed,
  shapeOf: (field: string) => Shape | undefined,
): Document[] {
  if (!paths) return []
  const changed = changedPaths(change)
  const known: Record<string, Document> = {}
  const unknown: string[] = []
  for (const path of paths) {
    const touching = changed.filter((field) => isWithin(path, field) || isWithin(field, path))
    if (touching.length === 0) continue
    const grams = replacedGrams(change, touching, path)
    if (grams) known[memberOf(path)] = { $literal: grams }
    else unknown.push(memberOf(path))
  }
  const others = changed.filter((one) => !TEXTLESS.has(shapeOf(one)?.kind) && !paths.includes(one))
  return [
    ...(others.length > 0 ? [withoutWithin(others.map(keyOf))] : []),
    ...(Object.keys(known).length > 0 ? [{ $set: known }] : []),
    ...(unknown.length > 0 ? [{ $unset: unknown }] : []),
  ]
}

/** The stage that removes the grams of all paths at these keys and within. */
function withoutWithin(keys: readonly string[]): Document {
  const isElsewhere = keys.flatMap((key) => [
    { $ne: ['$$gram.k', { $literal: key }] },
    { $ne: [{ $indexOfBytes: ['$$gram.k', { $literal: `${key}~1` }] }, 0] },
  ])
  const kept = {
    $filter: { input: { $objectToArray: `$${GRAMS}` }, as: 'gram', cond: { $and: isElsewhere } },
  }
  const isThere = { $eq: [{ $type: `$${GRAMS}` }, 'object'] }
  return { $set: { [GRAMS]: { $cond: [isThere, { $arrayToObject: kept }, '$$REMOVE'] } } }
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

/** The condition that a field holds exactly this value of BSON; `undefined` means that it is absent. */
export function isStill(field: string, value: unknown): Document {
  if (value === undefined) return { $eq: [{ $type: `$${field}` }, 'missing'] }
  return { $eq: [`$${field}`, { $literal: value }] }
}

/** The distinct grams of all strings at `path` of `value`; undefined if there are too many. */
export function gramsAt(value: unknown, path: string): readonly string[] | undefined {
  const grams = new Set<string>()
  for (const one of valuesAt(value, path === '' ? [] : path.split('.'))) {
    if (typeof one !== 'string') continue
    for (const gram of gramsOf([...fold(one)])) grams.add(gram)
  }
  if (grams.size > MOST) return undefined
  return grams.size > 0 ? [...grams] : NO_GRAM
}

/** The gram that starts at each character, unless it is too short to be searched for. */
function gramsOf(characters: readonly string[]): string[] {
  return characters
    .slice(0, Math.max(0, characters.length - SHORTEST + 1))
    .map((_, index) => characters.slice(index, index + LONGEST).join(''))
}

/** No letter beyond has a case (test/stores/mongodb/contains.long.test.ts checks every code point). */
const CASED_END = 0x1f000

let folding: ReadonlyMap<string, string> | undefined

/**
 * A regular expression that finds `text` by fieldgate's own folding: each character becomes the class of all characters
 * with the same fold, because the database's `i` option folds differently from the other stores.
 */
export function containsPattern(text: string): string {
  folding ??= charactersByFold()
  return Array.from(fold(text), (char) => folding?.get(char) ?? escaped(char)).join('')
}

/** Characters that differ only in case, as a class, by their common fold. */
function charactersByFold(): Map<string, string> {
  const classes = new Map<string, string>()
  for (let code = 0; code < CASED_END; code++) {
    const char = String.fromCodePoint(code)
    const folded = fold(char)
    if (folded !== char) classes.set(folded, (classes.get(folded) ?? folded) + char)
  }
  for (const [folded, chars] of classes) classes.set(folded, `[${chars}]`)
  return classes
}

export function escaped(char: string): string {
  if (char === '\0') return '\\x00'
  return /[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/.test(char) ? `\\${char}` : char
}
