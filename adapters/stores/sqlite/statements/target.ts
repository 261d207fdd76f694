/**
 * What the statements of one collection are compiled with.
 *
 * @module
 */

import type { CollectionSchema } from '../../../../src/ports/store.ts'
import { readerOf } from '../layout/rows.ts'
import type { Runner } from '../layout/runner.ts'
import { SchemaStamps } from '../layout/schema-stamps.ts'
import { type Shadow, shadowsOf } from '../layout/shadows.ts'
import { identifier, Parameters } from '../layout/sql.ts'
import type { Compilation } from './filter.ts'

/** A collection as statements see it. */
export interface Target {
  readonly schema: CollectionSchema
  /** The table, as an identifier. */
  readonly table: string
  readonly stamps: SchemaStamps | undefined
  /** A record from its JSON. */
  readonly parse: ReturnType<typeof readerOf>
  /** The shadows of the searchable paths, by path. */
  shadows(): ReadonlyMap<string, Shadow>
  /** What one statement is compiled with. */
  compilation(): Compilation
}

/** The target of `schema`. Its searchable paths may grow until the store is prepared for them. */
export function targetOf(
  schema: CollectionSchema,
  runner: Pick<Runner, 'candidates' | 'shapes'>,
): Target {
  let known: ReadonlyMap<string, Shadow> = new Map()
  const shadows = () => {
    if (schema.searchable.length !== known.size) known = shadowsOf(schema)
    return known
  }
  const { candidates } = runner
  return {
    schema,
    table: identifier(schema.name),
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
}
