/** A connection for each call: on Workers a socket belongs to the request that opened it. */

import type { ReadHints } from '../../../../src/ports/store/records.ts'
import type { Result } from '../layout/rows.ts'
import type { Endable, Statement } from '../layout/sql.ts'
import { Connection, type Work } from './connection.ts'

/** For a call's own connection, and one that ends its statement. */
const MOST = 2

/** Opens connections for a call, and ends them after it. Nothing waits for, or is shared with, another request. */
export class BriefConnections extends Connection {
  override read(statement: Statement, hints?: ReadHints): Promise<Result> {
    return this.#brief((own) => own.read(statement, hints))
  }

  override run(statement: Endable): Promise<Result> {
    return this.#brief((own) => own.run(statement))
  }

  override transaction<T>(work: Work<T>): Promise<T> {
    return this.#brief((own) => own.transaction(work))
  }

  override exec(sql: string): Promise<void> {
    return this.#brief((own) => own.exec(sql))
  }

  async #brief<T>(call: (own: Connection) => Promise<T>): Promise<T> {
    // A statement that is used once need not be prepared.
    const own = new Connection({ ...this.options, max: MOST, prepare: false })
    try {
      return await call(own)
    } finally {
      // The request need not wait for the farewell.
      own.close().catch(() => {})
    }
  }
}
