/**
 * The SQLite store on libSQL: Turso, a server of your own, or a file. It runs on every runtime; Workers have no files.
 *
 * @module
 */

import { createClient } from '@libsql/client'
import { checkOptions, each, type Rule, text } from '../../../../src/model/option-rules.ts'
import type { Store } from '../../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { pathToOpen } from '../connection/opening.ts'
import type { Row, SqliteResult, SqlValue, Statement } from '../layout/sql.ts'
import { executorStore } from './executor.ts'

/** Where the database is. */
export interface LibsqlOptions {
  /**
   * A URL that begins with `libsql:`, `https:`, `http:`, `wss:`, `ws:` or `file:`; `:memory:` is a database that is lost
   * when the process ends. Needed unless you give a `client`.
   */
  readonly url?: string
  /** The token of a server that wants one. */
  readonly authToken?: string | undefined
  /** A client of `@libsql/client` that you have made. You close it yourself. */
  readonly client?: LibsqlClient
}

/** The part of a client of `@libsql/client` that the store uses. */
export interface LibsqlClient {
  execute(statement: LibsqlStatement): Promise<LibsqlResult>
  /** Runs statements in one transaction. */
  batch(statements: LibsqlStatement[], mode: 'write'): Promise<LibsqlResult[]>
  close(): void
}

/** A statement with the values of its parameters. */
export interface LibsqlStatement {
  readonly sql: string
  readonly args: (string | number | bigint)[]
}

/** The result of a statement. */
export interface LibsqlResult {
  readonly rows: readonly object[]
  readonly rowsAffected: number
}

/** How long a statement waits for another process that writes to the same file. */
const MAX_WAIT_MS = 5000
const PAUSE_MS = 20

/**
 * A store in a libSQL database. A write resolves when the database has it on disk. Throws a `TypeError` without a `url`
 * and a `client`.
 */
export function libsqlStore(options: LibsqlOptions): Store {
  checkOptions({ ...options }, RULES, 'libsqlStore')
  const { url, authToken, client } = options ?? {}
  if (!client && (typeof url !== 'string' || url === '')) {
    throw new TypeError(`libsqlStore: 'url' must say where the database is`)
  }
  const known = client ?? opened(url ?? '', authToken)
  const path = client || !url?.startsWith('file:') ? undefined : url.slice('file:'.length)
  // The program may change its folder later.
  const place = path && process.getBuiltinModule('node:path').resolve(path)
  let isReady = path === undefined && !client
  let file: unknown
  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      if (!isReady) await (client ? checkNumbers(client) : keepLog(known))
      isReady = true
      if (place !== undefined) {
        const found = numberOf(place)
        file ??= found
        if (found !== file) {
          throw new Error(
            `'${path}' was replaced or removed while it was open. Start the app again`,
          )
        }
      }
      return await work()
    } catch (error) {
      throw storeError(error)
    }
  }
  const store = executorStore({
    name: 'libsql',
    title: 'libSQL',
    run: (statement) => ask(async () => written(await known.execute(sent(statement)))),
    batch: (statements) =>
      ask(async () => (await known.batch(statements.map(sent), 'write')).map(written)),
    close: () => {
      if (!client) known.close()
    },
  })
  // What a backup copies.
  return path === undefined ? store : Object.assign(store, { path })
}

const RULES: Readonly<Record<keyof LibsqlOptions, Rule>> = {
  ...each(text, 'url', 'authToken'),
  client: {
    must: 'be a client of @libsql/client',
    test: (client) => typeof Object(client).execute === 'function',
  },
}

/** Readers then wait for no writer. The file keeps it. */
async function keepLog(client: LibsqlClient): Promise<void> {
  const until = performance.now() + MAX_WAIT_MS
  for (;;) {
    try {
      return void (await client.execute({ sql: 'PRAGMA journal_mode = WAL', args: [] }))
    } catch (error) {
      // Where another process opens the same new file, SQLite does not wait by itself.
      const { code } = error as { readonly code?: unknown }
      if (code !== 'SQLITE_BUSY' || performance.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}

/** The number of a file on its disk; undefined if there is none, or Deno may not look. */
function numberOf(path: string): unknown {
  try {
    return process.getBuiltinModule('node:fs').statSync(path).ino
  } catch {
    return undefined
  }
}

class WrongClient extends TypeError {}

/** Throws if the client has integers as something else: counts and sums would be that too. */
async function checkNumbers(client: LibsqlClient): Promise<void> {
  const { rows } = await client.execute({ sql: 'SELECT 1 AS one', args: [] })
  if ((rows[0] as Row | undefined)?.one === 1) return
  throw new WrongClient("libsqlStore: the client needs intMode: 'number', which is the default")
}

function opened(url: string, authToken: string | undefined): LibsqlClient {
  const isRemote = /^(?:libsql|https?|wss?):/.test(url)
  const at = url.startsWith('file:') ? `file:${pathToOpen(url.slice('file:'.length))}` : url
  try {
    return createClient({
      url: at,
      timeout: MAX_WAIT_MS,
      // On Workers a call would wait for those of other requests, which the runtime lets no request do.
      ...(isRemote && { concurrency: Number.MAX_SAFE_INTEGER }),
      ...(authToken !== undefined && { authToken }),
    }) as unknown as LibsqlClient
  } catch (error) {
    // The token may be in the address.
    throw new TypeError(`libsqlStore: ${(error as Error).message.replaceAll(at, '…')}`)
  }
}

function sent({ sql, values }: Statement): LibsqlStatement {
  // Over HTTP, the client sends numbers as fractions: JSON would get `5.0`.
  const isInteger = (value: SqlValue) => Number.isSafeInteger(value) && !Object.is(value, -0)
  return { sql, args: values.map((value) => (isInteger(value) ? BigInt(value) : value)) }
}

function written({ rows, rowsAffected }: LibsqlResult): SqliteResult {
  // A file's client counts nothing where there are rows; these are one for each change.
  return { rows: rows as readonly Row[], changes: rowsAffected || rows.length }
}

/** The codes that are about a statement. All others are about the database, or the way to it. */
const OF_STATEMENT =
  /^SQLITE_(?:ERROR|CONSTRAINT|TOOBIG|MISMATCH|RANGE|MISUSE|AUTH|ABORT|SCHEMA|INTERNAL|UNKNOWN)|^(?:URL_|ARGUMENTS_|TRANSACTION_)/

function storeError(error: unknown): unknown {
  const { code } = error as { readonly code?: unknown }
  if (!(error instanceof Error) || error instanceof WrongClient) return error
  if (OF_STATEMENT.test(String(code))) return error
  return new StoreUnavailable('the database cannot be used', { cause: error })
}
