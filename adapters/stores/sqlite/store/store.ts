/** A store in a database that speaks SQLite's SQL, over what runs its statements. */

import type { MaybePromise } from '../../../../src/ports/promises/maybe-promise.ts'
import type { WriteWatch } from '../../../../src/ports/store/copying.ts'
import type { CollectionSchema, LeftOver, Store } from '../../../../src/ports/store/store.ts'
import { dropAll, openLog } from '../changes/log.ts'
import type { Runner } from '../layout/runner.ts'
import type { Shapes } from '../layout/schema-stamps.ts'
import type { Row, RunAll, Statement } from '../layout/sql.ts'
import { checkNames, warningsOf } from '../schema/steps-to.ts'
import { openCollection } from '../statements/collection.ts'
import { stepWriter } from '../statements/steps.ts'
import type { Found } from './prepare.ts'

/** What runs the statements of a store. */
export interface Engine extends Pick<Store, 'name' | 'rawRegex' | 'copying' | 'close'> {
  /** How people call the database, for warnings. */
  readonly title: string
  /** The most fields of a collection that may be searched, if there is a limit. */
  readonly maxSearched?: number | undefined
  readonly deadline?: Runner['deadline']
  runnerOf(schema: CollectionSchema): Omit<Runner, 'deadline' | 'shapes'>
  /** Its errors are the port's. */
  read(statement: Statement): MaybePromise<readonly Row[]>
  readonly write: RunAll
  prepare(schemas: readonly CollectionSchema[]): Promise<Found>
  dropLeftOvers(schemas: readonly CollectionSchema[]): Promise<LeftOver[]>
}

/** The store over `engine`. */
export function storeOver(engine: Engine): Store {
  const { name, rawRegex, copying, title, write, deadline } = engine
  const shapes: { all: Shapes } = { all: new Map() }
  const runnerOf = (schema: CollectionSchema) => ({ ...engine.runnerOf(schema), deadline, shapes })
  const log = openLog(engine.read, deadline)
  return {
    name,
    rawRegex,
    guards: true,
    changes: log,
    ...(copying && { copying }),
    collection: (schema) => openCollection(schema, runnerOf(schema)),
    write: stepWriter(runnerOf, log, write),
    async prepare(schemas, warn = () => {}) {
      checkNames(schemas, engine.maxSearched)
      if (schemas.length === 0) return
      const found = await engine.prepare(schemas)
      shapes.all = found.shapes
      log.models.prepared(schemas)
      const old = dropAll(log, 1)
      // With a full disk, what is there is read all the same.
      if (old.length > 0) await write(old).catch(() => {})
      for (const message of warningsOf(title, schemas, found.existing)) warn(message)
    },
    dropLeftOvers: engine.dropLeftOvers,
    close: engine.close,
  }
}

/** A row that changes with every write: the version counts those of other connections, the changes those of this one. */
const STATE: Statement = {
  sql: 'SELECT data_version AS version, total_changes() AS changes FROM pragma_data_version',
  values: [],
}

/** Watches the database that `read` reads. It has one version for all its tables. */
export async function watchWrites(
  read: (statement: Statement) => Promise<readonly Row[]>,
): Promise<WriteWatch> {
  const state = async () => JSON.stringify(await read(STATE))
  let last = await state()
  return {
    async written() {
      const before = last
      last = await state()
      return last !== before
    },
    async close() {},
  }
}
