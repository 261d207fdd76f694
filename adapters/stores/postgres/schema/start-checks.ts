/**
 * What start-up can know of models that PostgreSQL has no room for.
 *
 * @module
 */

import { codeOf } from '../layout/errors.ts'
import { primaryKeyName } from '../layout/sql.ts'
import { extraColumns, indexesOf, type Prepared } from './schema.ts'

/** Throws a `TypeError` if two models would have tables or indexes of one name, of which a schema has one. */
export function refuseMeetingNames(
  collections: readonly Prepared[],
  trigrams: string | undefined,
): void {
  const owners = new Map<string, Prepared['schema']>()
  for (const collection of collections) {
    const { schema } = collection
    for (const name of namesOf(collection, trigrams)) {
      const other = owners.get(name) ?? schema
      // Two models may adopt one table.
      if (other !== schema && !(other.adopted && schema.adopted)) {
        throw new TypeError(
          `postgresStore: '${name}' would be a table or an index of '${other.name}' and of '${schema.name}'. Give one of these models another 'collection'`,
        )
      }
      owners.set(name, schema)
    }
  }
}

/** The names that a collection takes in its schema. */
function namesOf(collection: Prepared, trigrams: string | undefined): readonly string[] {
  const { schema, table } = collection
  if (schema.adopted) return [schema.adopted.name]
  const indexes = indexesOf(collection, trigrams).map(({ name }) => name)
  return [table.name, primaryKeyName(table.name), ...indexes]
}

/** A table of PostgreSQL has no more columns. */
const MAX_COLUMNS = 1600

/** Throws a `TypeError` if a table would have more columns than PostgreSQL takes. */
export function refuseTooMany(collections: readonly Prepared[]): void {
  for (const collection of collections) {
    const { schema, table } = collection
    const extra = schema.adopted ? 0 : extraColumns(collection).length
    const count = table.columns.length + extra
    if (count <= MAX_COLUMNS) continue
    throw new TypeError(
      `postgresStore: the table of '${schema.name}' would have ${count} columns, ${extra} of them for searches, and PostgreSQL takes ${MAX_COLUMNS}. Put fields into objects, or search fewer`,
    )
  }
}

/** The error of a name that something else in the database's schema has, with what to do; any other error as it is. */
export function takenName(error: unknown, { schema }: Prepared): unknown {
  if (codeOf(error) !== NAME_TAKEN) return error
  const { message } = error as Error
  return new TypeError(
    `postgresStore: ${message}, and '${schema.name}' needs this name for its table or an index. Rename what has it, or give the model another 'collection'`,
    { cause: error },
  )
}

const NAME_TAKEN = '42P07'

/** What to say of strings in indexes that may become too long for one. */
export function unboundedIn(collections: readonly Prepared[]): string[] {
  return collections.flatMap(({ schema: { name, adopted, unbounded = [] } }) =>
    // Columns and indexes of adopted tables are another program's, with limits of their own.
    adopted || unbounded.length === 0
      ? []
      : `PostgreSQL: a value in an index has about 2,700 bytes, and '${name}' has strings without a limit in 'unique' or 'indexes': ${unbounded.join(', ')}. A longer value is a 413. Give them a max()`,
  )
}
