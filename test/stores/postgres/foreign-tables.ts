/**
 * Tables of other programs, for tests of models that adopt them.
 *
 * @module
 */

import postgres from 'postgres'
import { afterAll, onTestFinished } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { batch } from '../../../src/batch/index.ts'
import { createApp, createRouter, defineModel, type Model } from '../../../src/index.ts'

/** A response: its status, and its body's `data`, else the whole body. */
interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the body of any response
  readonly data: any
}

/** An app that serves a model under `/m`, and batches under `/batch`. */
export interface Served {
  readonly warnings: readonly string[]
  readonly model: Model
  call(method: string, path: string, json?: unknown): Promise<Answer>
  get(path: string): Promise<Answer>
  /** The ids of all pages of a list by cursor, in order. */
  pages(query: string): Promise<string[]>
  /** The ids of a list as a file, in order. */
  file(query: string): Promise<string[]>
}

/** A schema with tables that `script` makes, which is run by the first call of `run`. */
export function foreignTables(url: string) {
  const space = `foreign_${crypto.randomUUID()}`
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const run = (script: string) => sql.unsafe(script)
  const begun = run(`CREATE SCHEMA "${space}"; SET search_path TO "${space}", public`)
  afterAll(async () => {
    await run(`DROP SCHEMA "${space}" CASCADE`)
    await sql.end()
  })

  /** Starts an app that adopts a table whose key is `id`. */
  async function serve(
    table: string,
    fields: object,
    {
      definition = {},
      router = {},
      models = [] as readonly Model[],
      address = url,
      client = undefined as postgres.Sql | undefined,
    } = {},
  ): Promise<Served> {
    const warnings: string[] = []
    const logger = {
      debug() {},
      info() {},
      warn: (line: string) => warnings.push(line),
      error() {},
    }
    const store = postgresStore({ ...(client ? { client } : { url: address }), schema: space })
    const app = createApp({ store, logger })
    onTestFinished(() => app.close())
    const base = { table, columns: { _id: 'id' }, id: 'integer' }
    const name = `Foreign${table.replaceAll('_', '')}`
    const model = defineModel(name, { fields, ...base, ...definition } as never) as unknown as Model
    const names = Object.keys(fields)
    const rules = { middlewares: [], query: names, allowedFields: names, ...router }
    app.mount('/m', createRouter({ model, ...rules } as never))
    for (const one of models) {
      app.mount(`/${one.collection}`, createRouter({ model: one, middlewares: [] } as never))
    }
    app.mount('/batch', batch())
    await app.ready()

    async function call(method: string, path: string, json?: unknown): Promise<Answer> {
      const headers = { 'content-type': 'application/json' }
      const init = { method, ...(json !== undefined && { body: JSON.stringify(json), headers }) }
      const response = await app.handle(new Request(`http://localhost${path}`, init))
      const body = JSON.parse((await response.text()) || '{}')
      return { status: response.status, data: body.data ?? body, ...body.pagination }
    }

    async function pages(query: string): Promise<string[]> {
      const ids: string[] = []
      for (let cursor: string | undefined, first = true; first || cursor; first = false) {
        const answer = await call('GET', `/m?${query}${cursor ? `&cursor=${cursor}` : ''}`)
        if (answer.status !== 200) throw new Error(JSON.stringify(answer))
        ids.push(...answer.data.map(({ _id }: { _id: string }) => _id))
        cursor = (answer as { nextCursor?: string }).nextCursor
      }
      return ids
    }

    async function file(query: string): Promise<string[]> {
      const headers = { accept: 'application/x-ndjson' }
      const response = await app.handle(new Request(`http://localhost/m?${query}`, { headers }))
      const lines = (await response.text()).split('\n').filter(Boolean)
      return lines.map((line) => JSON.parse(line)._id)
    }

    return { warnings, model, call, get: (path) => call('GET', path), pages, file }
  }

  return { space, serve, run: (script: string) => begun.then(() => run(script)) }
}
