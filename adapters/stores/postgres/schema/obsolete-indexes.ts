/** What a table still has that only other versions of a model need. */

import type { LeftOver } from '../../../../src/ports/store/store.ts'
import { SEARCH_PREFIX } from '../layout/columns.ts'
import { codeOf } from '../layout/errors.ts'
import { keyIn } from '../layout/indexed-fields.ts'
import { checksum, identifier, literal, shortName } from '../layout/sql.ts'
import { type ExistingIndex, type ExistingTable, existingTable, OWN } from './catalog.ts'
import { patiently, permitted, runLocking } from './locks.ts'
import {
  dropIndex,
  extraColumns,
  type Index,
  indexesOf,
  isSearchColumn,
  type Prepared,
} from './schema.ts'

/** The indexes that a collection needs, for a table with those in `existing`. */
export function desiredIndexes(existing: ExistingTable, collection: Prepared): Index[] {
  return indexesOf(collection).map((index) => desiredIndex(index, existing, collection))
}

/**
 * An index that a collection needs, beside those in `existing`. If another version makes or has made a unique one with the same
 * name over other values, as over numbers that are strings now, both have to be there: the new one gets another name.
 */
export function desiredIndex(index: Index, existing: ExistingTable, collection: Prepared): Index {
  const { name, on } = index
  const found = existing.indexes.get(name)
  const other = shortName(`${name}_${checksum(on)}`)
  // One that nobody finishes is nobody's.
  const isUsed = found && (found.isOwn || found.isValid || found.isBuilding)
  const isTaken = isUsed && !isOf(index, found, collection)
  const isThere = !found && existing.indexes.has(other)
  return isTaken || isThere ? { ...index, name: other } : index
}

/** Whether an index that exists is over the same values, in the same order. */
function isOf({ on, fields }: Index, existing: ExistingIndex, { table }: Prepared): boolean {
  const [wanted, found] = [on, existing.definition].map((sql) =>
    JSON.stringify(keyIn(sql, table.columns)),
  )
  return wanted === found && existing.isUnique === (fields !== undefined)
}

export function desiredNames(existing: ExistingTable, collection: Prepared): ReadonlySet<string> {
  // Those of searches too, also while there are no trigrams.
  const desired = desiredIndexes(existing, { ...collection, trigrams: 'any' })
  return new Set(desired.map(({ name }) => name))
}

/** The indexes that other versions of the model have made. */
export function obsoleteIndexes(
  existing: ExistingTable,
  collection: Prepared,
): { readonly name: string; readonly kind: keyof typeof WORDS; readonly index: ExistingIndex }[] {
  const wanted = desiredNames(existing, collection)
  return [...existing.indexes]
    .filter(([name, { isOwn }]) => isOwn && !wanted.has(name))
    .map(([name, index]) => ({ name, kind: kindOf(index), index }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function kindOf({ isUnique, columns, definition }: ExistingIndex): keyof typeof WORDS {
  if (isUnique) return 'unique'
  // Routers declare both kinds that are of this type.
  if (/ USING gin /i.test(definition)) return 'search'
  return columns.some((column) => column.startsWith(SEARCH_PREFIX)) ? 'search' : 'order'
}

/** Drops what only other versions of the models need, and says what it was. */
export async function dropLeftOvers(collections: readonly Prepared[]): Promise<LeftOver[]> {
  const dropped: LeftOver[] = []
  for (const collection of collections) {
    if (collection.schema.adopted) continue
    const note = (what: string) => dropped.push({ collection: collection.schema.name, what })
    await permitted(collection, async () => {
      await dropIndexes(collection, note)
      await dropColumns(collection, note)
    })
  }
  return dropped
}

const WORDS = { unique: 'the unique index', search: 'the search index', order: 'the index' }

type Note = (what: string) => void

async function dropIndexes(collection: Prepared, note: Note): Promise<void> {
  const { connection, table, schema } = collection
  const existing = await existingTable(connection, table.sql)
  if (!existing) return
  for (const { name, kind, index } of obsoleteIndexes(existing, collection)) {
    // A script without routers declares no searches.
    if (kind === 'search' && schema.searchable.length === 0) continue
    const sql = dropIndex(name, index.isConstraint, collection)
    const isDropped = await unlessNeeded(() =>
      index.isConstraint ? runLocking(collection, sql) : connection.exec(sql),
    )
    if (isDropped) note(`${WORDS[kind]} '${name}'`)
  }
}

async function dropColumns(collection: Prepared, note: Note): Promise<void> {
  const { connection, table, schema } = collection
  if (schema.searchable.length === 0) return
  const existing = await existingTable(connection, table.sql)
  const wanted = extraColumns(collection).map(({ name }) => name)
  const indexed = [...(existing?.indexes.values() ?? [])].flatMap(({ columns }) => columns)
  for (const [name, column] of existing?.columns ?? []) {
    // One with an index of another program stays: that would go with it.
    if ([...wanted, ...indexed].includes(name) || !isSearchColumn(name, column)) continue
    const sql = `ALTER TABLE ${table.sql} DROP COLUMN IF EXISTS ${identifier(name)}`
    const isDropped = await unlessNeeded(() => runLocking(collection, sql))
    if (isDropped) note(`the search column '${name}'`)
  }
}

/** Whether `drop` has done it: what a view or a foreign key of another program depends on stays. */
async function unlessNeeded(drop: () => Promise<void>): Promise<boolean> {
  try {
    await patiently(drop)
    return true
  } catch (error) {
    if (codeOf(error) !== NEEDED) throw error
    return false
  }
}

/** Something depends on it. */
const NEEDED = '2BP01'

const ASIDE = 'half_made_'

/** The names of half-made indexes that a start has put aside: it may have been killed before it dropped them. */
export function asideIn({ indexes }: ExistingTable): string[] {
  return [...indexes].flatMap(([name, { isOwn, isValid }]) =>
    name.startsWith(ASIDE) && isOwn && !isValid ? name : [],
  )
}

/** Drops an index that was put aside; another process may be dropping it. */
export function dropAside(collection: Prepared, name: string): Promise<void> {
  return patiently(() => collection.connection.exec(dropIndex(name, false, collection)))
}

/**
 * Drops an index that nobody will finish. Only under another name: by the time that the drop has its lock, another process may
 * have finished a new one under this name.
 */
export async function dropHalfMade(collection: Prepared, name: string): Promise<void> {
  const { connection, space, table } = collection
  const aside = `${ASIDE}${crypto.randomUUID()}`
  const at = (one: string) => `${identifier(space)}.${identifier(one)}`
  // With this lock on the table nobody builds an index; reads and writes go on.
  await connection.exec(`LOCK TABLE ${table.sql} IN SHARE UPDATE EXCLUSIVE MODE;
DO $do$ BEGIN
  IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(${literal(at(name))}) AND NOT indisvalid) THEN
    ALTER INDEX ${at(name)} RENAME TO ${identifier(aside)};
    COMMENT ON INDEX ${at(aside)} IS ${literal(OWN)};
  END IF;
END $do$`)
  await dropAside(collection, aside)
}
