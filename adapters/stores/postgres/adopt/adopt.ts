/** Tables of other programs: how a model's fields are read from and written to their columns. They are never altered. */

import type { SortKey } from '../../../../src/ports/store/filter.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { topOf } from '../../../../src/ports/values/paths.ts'
import { haveSameFields } from '../../left-over.ts'
import { orderBy } from '../../sql/page.ts'
import { type Column, FOLD, kindOf, type Table, tableSql, typeOf } from '../layout/columns.ts'
import { orderOf, searchColumn, sorted, valueAt } from '../layout/operands.ts'
import { identifier, literal } from '../layout/sql.ts'
import type { ExistingColumn, ExistingIndex, ExistingTable } from '../schema/catalog.ts'
import type { Prepared } from '../schema/schema.ts'
import { type Adopted, checkExclusions, checkKeys } from './adopted-checks.ts'
import { readingOf } from './adopted-columns.ts'

/** The table that a collection adopts, from what the database knows of it. Throws a `TypeError` with the SQL to run. */
export function adoptedTable(
  schema: CollectionSchema,
  space: string,
  existing?: ExistingTable,
): Table {
  const { name = '', columns: renamed = {} } = schema.adopted ?? {}
  const sql = tableSql(space, name)
  if (!existing)
    throw new TypeError(`postgresStore: the table ${sql} of '${schema.name}' does not exist`)
  refuseMissing(schema, sql, existing)
  const columns = [...schema.shape.fields].map(([field, shape]): Column => {
    const column = renamed[field] ?? field
    const found = existing.columns.get(column) as ExistingColumn
    const absence = field === '_id' ? 'never' : (schema.absence?.get(field) ?? 'null')
    const kind = kindOf(shape.kind)
    const known = { field, name: column, sql: identifier(column), shape, kind, absence }
    return { ...found, ...known, ...readingOf(sql, known.sql, shape, found) }
  })
  const byField = new Map(columns.map((column) => [column.field, column]))
  const constraints = [...existing.indexes].flatMap(([index, { isUnique, columns: names }]) => {
    const fields = names.map((one) => columns.find((column) => column.name === one)?.field ?? one)
    // In the order of the model's unique set, if it has one of them.
    const declared = schema.unique.find((set) => haveSameFields(set, fields)) ?? fields
    return isUnique ? [[index, declared] as const] : []
  })
  return {
    name: schema.name,
    sql,
    id: byField.get('_id')?.sql ?? '',
    columns,
    byField,
    hasNulls: false,
    isAdopted: true,
    fold: `${identifier(space)}.${FOLD}`,
    constraints: new Map(constraints),
  }
}

/** Throws a `TypeError` with all columns that a table lacks, and the SQL that adds them. */
function refuseMissing(
  { shape, adopted }: CollectionSchema,
  sql: string,
  { columns, kind }: ExistingTable,
): void {
  const missing = [...shape.fields]
    .map(([field, of]) => ({ field, of, column: adopted?.columns?.[field] ?? field }))
    .filter(({ column }) => !columns.has(column))
  if (missing.length === 0) return
  const told = missing.map(({ field, column }) => `${identifier(column)} for '${field}'`)
  const there = [...columns.keys()].map(identifier).join(', ')
  const added = missing.map(({ column, of }) => {
    return `ADD COLUMN ${identifier(column)} ${typeOf(of).replace('(3)', '')}`
  })
  const isView = kind.endsWith('view')
  refuse(
    `${sql} has no column ${told.join(', ')}`,
    `${isView ? `Add it to the ${kind}` : `Run: ALTER TABLE ${sql} ${added.join(', ')}`}, or name one that is there in 'columns': ${there}`,
  )
}

function refuse(problem: string, remedy: string): never {
  throw new TypeError(`postgresStore: ${problem}. ${remedy}`)
}

/** Checks that an adopted table keeps what the model promises; warns of what is slow. */
export async function checkAdopted(
  prepared: Prepared,
  existing: ExistingTable | undefined,
  warn: (message: string) => void,
): Promise<void> {
  const { schema, space } = prepared
  const table = adoptedTable(schema, space, existing)
  if (!existing) return
  const adopted = { ...prepared, table, existing }
  checkUnique(adopted)
  await checkExclusions(adopted)
  await checkKeys(adopted)
  const messages = [
    ...(await missingOrders(adopted)),
    ...missingSearches(adopted),
    ...missingDefaults(adopted),
  ]
  for (const message of messages) warn(`PostgreSQL: ${message}`)
}

function checkUnique({ schema, table, existing }: Adopted): void {
  const kept = [...existing.indexes.values()].filter((one) => {
    return one.isUnique && one.isWhole && one.isValid
  })
  const missing = [['_id'], ...schema.unique]
    .map((fields) => fields.map((field) => table.byField.get(field)?.name ?? ''))
    .filter((names) => !kept.some(({ columns }) => haveSameFields(columns, names)))
    .map((names) => names.map(identifier).join(', '))
  if (missing.length === 0) return
  const remedies = missing.map((listed) => uniqueRemedy(existing, table.sql, listed))
  const told = missing.map((listed) => `${table.sql} does not keep ${listed} unique`)
  refuse(told.join(', and '), [...new Set(remedies)].join('. '))
}

function uniqueRemedy({ kind }: ExistingTable, table: string, listed: string): string {
  switch (kind) {
    case 'table':
      return `Run: ALTER TABLE ${table} ADD UNIQUE (${listed})`
    case 'materialized view':
      return `Run: CREATE UNIQUE INDEX ON ${table} (${listed})`
    case 'partitioned table':
      return `It is partitioned, so a unique constraint needs the columns that it is partitioned by. Adopt a table that is partitioned by ${listed} alone, or not at all`
    default:
      return `It is a ${kind}, which keeps nothing unique. Adopt a table or a materialized view`
  }
}

/** The declared orders that the database would sort for. It knows best which of its indexes serve. */
async function missingOrders(adopted: Adopted): Promise<string[]> {
  const { connection, schema, table } = adopted
  if (schema.indexes.length === 0) return []
  return connection.transaction(async (run) => {
    const off = ['sort', 'incremental_sort', 'seqscan'].map(
      (way) => `set_config('enable_${way}', 'off', true)`,
    )
    await run({ sql: `SELECT ${off.join(', ')}`, values: [] })
    const messages: string[] = []
    for (const keys of schema.indexes) {
      const order = orderBy(keys.map((key) => sorted(key, adopted)))
      const sql = `EXPLAIN SELECT 1 FROM ${table.sql}${order} LIMIT 1`
      const { rows } = await run({ sql, values: [] })
      const isSorted = rows.some(([line]) =>
        /^(?: *-> +)?(?:Incremental )?Sort /.test(String(line)),
      )
      if (isSorted) messages.push(missingOrder(keys, adopted))
    }
    return messages
  })
}

function missingOrder(keys: readonly SortKey[], adopted: Adopted): string {
  const { table, existing } = adopted
  const fields = keys.map(({ field }) => field)
  const problem = `no index of ${table.sql} serves ${fields.map((field) => table.byField.get(field)?.name ?? field).join(', ')}`
  const unfit = fields.flatMap((field) => {
    return valueAt(field, adopted).isColumn ? [] : (unfitColumn(field, adopted) ?? [])
  })
  if (unfit.length > 0) return `${problem}, and none can: ${unfit[0]}`
  const on = keys.map((key) => orderOf(key, adopted)).join(', ')
  return `${problem}. ${indexRemedy(existing, `ON ${table.sql} (${on})`)}`
}

function missingSearches(adopted: Adopted): string[] {
  const { schema, table, existing, trigrams } = adopted
  if (trigrams === undefined) return []
  return schema.searchable.flatMap((path) => {
    const { expression } = searchColumn(path, adopted)
    const column = table.byField.get(topOf(path))?.name ?? ''
    const serves = ({ definition }: ExistingIndex) =>
      definition.includes(FOLD) && definition.includes(column)
    if ([...existing.indexes.values()].some(serves)) return []
    const problem = `a search in '${path}' reads all of ${table.sql}`
    const unfit = unfitColumn(path, adopted)
    if (unfit !== undefined) return `${problem}, and no index can serve it: ${unfit}`
    const on = `ON ${table.sql} USING gin (${expression} ${trigrams}.gin_trgm_ops)`
    return `${problem}. ${indexRemedy(existing, on)}`
  })
}

function indexRemedy({ kind }: ExistingTable, on: string): string {
  if (kind.endsWith('view') && kind !== 'materialized view')
    return 'Create one on the table behind the view'
  // Indexes of partitioned tables can't be created concurrently.
  return `Run: CREATE INDEX ${kind === 'partitioned table' ? '' : 'CONCURRENTLY '}${on}`
}

/** Why no index can hold the strings at a path, if so: PostgreSQL makes those of an enum or an array anew each time. */
function unfitColumn(path: string, { table, existing }: Adopted): string | undefined {
  const column = table.byField.get(topOf(path))
  return existing.columns.get(column?.name ?? '')?.isTextIndexable
    ? undefined
    : `PostgreSQL can't index the type ${column?.type} of ${column?.sql} as a string`
}

function missingDefaults({ schema, table, existing }: Adopted): string[] {
  const { name, sql, id, columns: declared } = table
  const { kind, columns } = existing
  const refused = `${sql} takes no new records of '${name}', because`
  const names = new Set(declared.map((column) => column.name))
  if (kind === 'materialized view') return [`${refused} it is a materialized view`]
  const messages = [...columns].flatMap(([column, { isNotNull, byDefault }]) =>
    !isNotNull || byDefault !== undefined || names.has(column)
      ? []
      : `${refused} the column ${identifier(column)} is NOT NULL and has no default`,
  )
  const { name: keyName = '', byDefault } = declared[0] ?? {}
  const denied = columns.get(keyName)?.deniedSequence
  if (schema.idType !== 'integer') return messages
  if (byDefault === undefined) {
    const fill = `SELECT setval(pg_get_serial_sequence(${literal(sql)}, ${literal(keyName)}), max(${id})) FROM ${sql}`
    messages.push(
      `${refused} its key ${id} has no default. Run: ALTER TABLE ${sql} ALTER COLUMN ${id} ADD GENERATED BY DEFAULT AS IDENTITY; ${fill}`,
    )
  } else if (denied !== undefined) {
    messages.push(
      `${refused} the database's role may not use the sequence of ${id}. Let its owner run: GRANT USAGE ON SEQUENCE ${denied} TO <the role>`,
    )
  }
  return messages
}
