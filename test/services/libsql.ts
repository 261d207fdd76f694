/**
 * A libSQL server: the part of its protocol (Hrana 2 over HTTP, `POST /v2/pipeline`) that clients use for statements and
 * batches, on SQLite in memory. The real server is no package of npm, PyPI or Debian.
 *
 * @module
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

type Value =
  | { readonly type: 'null' }
  | { readonly type: 'integer' | 'text'; readonly value: string }
  | { readonly type: 'float'; readonly value: number }

interface Statement {
  readonly sql?: string
  readonly sql_id?: number
  readonly args?: readonly Value[]
}

type Condition =
  | { readonly type: 'ok' | 'error'; readonly step: number }
  | { readonly type: 'not'; readonly cond: Condition }
  | { readonly type: 'and' | 'or'; readonly conds: readonly Condition[] }

interface Step {
  readonly condition?: Condition
  readonly stmt: Statement
}

type Request =
  | { readonly type: 'execute'; readonly stmt: Statement }
  | { readonly type: 'batch'; readonly batch: { readonly steps: readonly Step[] } }
  | { readonly type: 'store_sql'; readonly sql_id: number; readonly sql: string }
  | { readonly type: 'close' | 'close_sql' }

/** The codes of SQLite that the server names. */
const CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  13: 'SQLITE_FULL',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
}

/** Starts a server with an empty database; it wants the token `token`, if there is one. */
export async function startLibsql(
  token?: string,
): Promise<{ readonly url: string; empty(): void; stop(): Promise<void> }> {
  let database = new DatabaseSync(':memory:')
  const server = createServer(async (request, response) => {
    const isAllowed = !token || request.headers.authorization === `Bearer ${token}`
    if (!isAllowed || request.url !== '/v2/pipeline') {
      response.writeHead(isAllowed ? 404 : 401).end()
      return
    }
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const results = pipeline(database, (JSON.parse(text) as { requests: Request[] }).requests)
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ baton: null, base_url: null, results }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    empty() {
      database.close()
      database = new DatabaseSync(':memory:')
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      database.close()
    },
  }
}

/** Runs the requests of a stream, one after the other. */
function pipeline(database: DatabaseSync, requests: readonly Request[]): object[] {
  const stored = new Map<number, string>()
  const run = (statement: Statement) => execute(database, statement, stored)
  return requests.map((request) => {
    const { type } = request
    try {
      if (type === 'store_sql') stored.set(request.sql_id, request.sql)
      if (type === 'execute') return ok({ type, result: run(request.stmt) })
      if (type === 'batch') return ok({ type, result: batch(request.batch.steps, run) })
      return ok({ type })
    } catch (error) {
      return { type: 'error', error: told(error) }
    }
  })
}

const ok = (response: object) => ({ type: 'ok', response })

function batch(steps: readonly Step[], run: (statement: Statement) => object): object {
  const results: (object | null)[] = []
  const errors: (object | null)[] = []
  const holds = (condition: Condition): boolean => {
    switch (condition.type) {
      case 'ok':
        return Boolean(results[condition.step])
      case 'error':
        return Boolean(errors[condition.step])
      case 'not':
        return !holds(condition.cond)
      default:
        return condition.type === 'and' ? condition.conds.every(holds) : condition.conds.some(holds)
    }
  }
  for (const { condition, stmt } of steps) {
    const at = results.push(null) - 1
    errors.push(null)
    if (condition && !holds(condition)) continue
    try {
      results[at] = run(stmt)
    } catch (error) {
      errors[at] = told(error)
    }
  }
  return { step_results: results, step_errors: errors }
}

function execute(
  database: DatabaseSync,
  { sql, sql_id: id, args = [] }: Statement,
  stored: ReadonlyMap<number, string>,
): object {
  const prepared = database.prepare(sql ?? stored.get(id ?? 0) ?? '')
  prepared.setReadBigInts(true)
  const before = changesOf(database)
  const rows = prepared.all(...args.map(taken)) as Record<string, unknown>[]
  const names = prepared.columns().map(({ name }) => name)
  return {
    cols: names.map((name) => ({ name, decltype: null })),
    rows: rows.map((row) => names.map((name) => sent(row[name]))),
    affected_row_count: changesOf(database) - before,
    last_insert_rowid: null,
  }
}

function changesOf(database: DatabaseSync): number {
  return Number(database.prepare('SELECT total_changes() AS changes').get()?.changes)
}

function taken(value: Value): SQLInputValue {
  switch (value.type) {
    case 'null':
      return null
    case 'integer':
      return BigInt(value.value)
    default:
      return value.value
  }
}

function sent(value: unknown): Value {
  if (typeof value === 'bigint') return { type: 'integer', value: String(value) }
  if (typeof value === 'number') return { type: 'float', value }
  return typeof value === 'string' ? { type: 'text', value } : { type: 'null' }
}

function told(error: unknown): object {
  const { message, errcode = 1 } = error as { readonly message: string; readonly errcode?: number }
  return { message: `SQLite error: ${message}`, code: CODES[errcode & 0xff] ?? 'SQLITE_ERROR' }
}
