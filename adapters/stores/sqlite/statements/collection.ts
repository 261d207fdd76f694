/** One collection, on top of anything that runs its statements. */

import type { Filter } from '../../../../src/ports/store/filter.ts'
import type { Fields } from '../../../../src/ports/store/records.ts'
import type {
  Collection,
  CollectionSchema,
  WriteOptions,
} from '../../../../src/ports/store/store.ts'
import { asStored, type Held } from '../../expecting.ts'
import { readerOf } from '../../json-values.ts'
import { type Shadow, shadowsOf } from '../layout/records.ts'
import type { Runner } from '../layout/runner.ts'
import { SchemaStamps, STAMP } from '../layout/schema-stamps.ts'
import { identifier, Parameters, type Statement } from '../layout/sql.ts'
import { fillerOf } from '../search/filling.ts'
import { type Target, where } from './filter.ts'
import { readsOf } from './reads.ts'
import { writesTo } from './writes.ts'

/** What a collection is opened to: what its members and the steps of a write share. */
export interface Opened extends Target {
  readonly writes: ReturnType<typeof writesTo>
}

/** Opens the collection of `schema`. Its searchable paths may grow until the store is prepared for them. */
export function openTarget(schema: CollectionSchema, runner: Runner): Opened {
  let known: ReadonlyMap<string, Shadow> = new Map()
  const shadows = () => {
    if (schema.searchable.length !== known.size) known = shadowsOf(schema)
    return known
  }
  const { candidates } = runner
  const target: Target = {
    schema,
    runner,
    table: identifier(schema.name),
    filler: fillerOf(schema.name, shadows, runner),
    stamps: schema.declared && new SchemaStamps(schema.declared, runner.shapes),
    parse: readerOf(schema.shape),
    shadows,
    compilation: () => ({
      shape: schema.shape,
      shadows: shadows(),
      parameters: new Parameters(),
      candidates,
    }),
  }
  return { ...target, writes: writesTo(target) }
}

export function openCollection(schema: CollectionSchema, runner: Runner): Collection {
  const opened = openTarget(schema, runner)
  return {
    seeksRecords: true,
    ...readsOf(opened),
    ...writingTo(opened),
    ...(opened.stamps && { refresh: (ids: readonly string[]) => refresh(ids, opened) }),
  }
}

function writingTo({
  table,
  parse,
  compilation,
  runner,
  filler,
  writes,
}: Opened): Pick<Collection, 'insert' | 'update' | 'updateMany' | 'delete'> {
  /** Writes the record that matches, if it holds what is expected. */
  const writeOne = async (
    filter: Filter,
    options: WriteOptions = {},
    statementOf: (held: Held<string>) => Statement,
  ): Promise<Fields | null> => {
    // By id, as a rule: that searches nothing.
    const filling = filter.op === 'eq' ? undefined : filler.fill(filter)
    if (filling) await filling
    const write = async (held: Held<string>) => {
      const [row] = (await runner.write(statementOf(held))).rows
      return row ? parse(row.doc as string) : null
    }
    const find = async () => {
      const compiled = compilation()
      const sql = `SELECT doc FROM ${table}${where(filter, compiled)} LIMIT 1`
      const [row] = await runner.read(compiled.parameters.statement(sql))
      const doc = String(row?.doc)
      return row && { record: parse(doc), stored: () => doc }
    }
    return (await write(options)) ?? asStored(options.expect, write, find)
  }

  return {
    async insert(record) {
      await runner.write(writes.insert(record))
    },
    update: (filter, change, options) =>
      writeOne(filter, options, (held) => writes.update(filter, change, held)),
    async updateMany(filter, change) {
      const filling = filler.fill(filter)
      if (filling) await filling
      return (await runner.write(writes.updateMany(filter, change))).changes
    },
    delete: (filter, options) => writeOne(filter, options, (held) => writes.delete(filter, held)),
  }
}

/** Longer records are left as they are: their JSON goes to the database and back. */
const MAX_REFRESHED = 16 * 1024

/** Stamps those of the records which turn out to be whole. */
async function refresh(ids: readonly string[], { table, stamps, runner }: Target): Promise<void> {
  const rows = await runner.read({
    sql: `SELECT rowid AS row, doc FROM ${table} WHERE _id IN (SELECT value FROM json_each(?1)) AND ${stamps?.untrusted()} AND length(doc) <= ${MAX_REFRESHED}`,
    values: [JSON.stringify(ids)],
  })
  const stamped = rows.flatMap(({ row, doc }) => {
    const stamp = stamps?.ofWhole(JSON.parse(String(doc)))
    return stamp === undefined ? [] : [[row, doc, stamp]]
  })
  if (stamped.length === 0) return
  // A record that was changed meanwhile has the stamp of that change.
  await runner.write({
    sql: `UPDATE ${table} SET ${STAMP} = value ->> 2 FROM json_each(?1) WHERE rowid = value ->> 0 AND doc = value ->> 1`,
    values: [JSON.stringify(stamped)],
  })
}
