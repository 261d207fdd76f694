/**
 * Whether a database has been written to.
 *
 * @module
 */

import type { WriteWatch } from '../../../../src/ports/copying.ts'
import type { Row, Statement } from '../layout/sql.ts'

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
