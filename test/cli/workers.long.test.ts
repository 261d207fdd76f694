import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Project, project } from './project.ts'

const WRANGLER_BIN = fileURLToPath(
  new URL('../../node_modules/wrangler/bin/wrangler.js', import.meta.url),
)
const WRANGLER = `
name = "books"
main = "worker.ts"
compatibility_date = "2026-11-01"
[[d1_databases]]
binding = "DB"
database_name = "books"
database_id = "00000000-0000-0000-0000-000000000000"
[[env.restored.d1_databases]]
binding = "DB"
database_name = "restored"
database_id = "00000000-0000-0000-0000-000000000001"
`
const MODEL = `
import * as z from 'zod/mini'
import { createApp, createRouter, defineModel } from 'fieldgate'

export const Book = defineModel('Book', { fields: FIELDS, unique: ['title'] })
const makeApp = (store) => createApp({ store }).mount('/books', createRouter({ model: Book, middlewares: [], allowedFields: ['title'] }))
`
const WORKER = `${MODEL}
import { d1Store } from 'fieldgate/d1'
import { worker } from 'fieldgate/workers'
const make = (env) => {
  if (env.SECRET !== 'from .dev.vars') throw new Error('no SECRET')
  return makeApp(d1Store(env.DB))
}
`
const OLD = '{ title: z.string(), pages: z.number() }'
const NEW = '{ title: z.string(), year: z.number() }'

/** The files of the local D1 databases. */
function databasesIn(folder: string): string[] {
  const state = join(folder, '.wrangler/state/v3/d1')
  return globSync('**/*.sqlite', { cwd: state })
    .filter((name) => !name.endsWith('metadata.sqlite'))
    .map((name) => join(state, name))
}

function rowOf(file: string, sql: string): object {
  const db = new DatabaseSync(file, { readOnly: true })
  const row = { ...db.prepare(sql).get() }
  db.close()
  return row
}

describe('the commands on an app for Workers with a local D1', () => {
  let books: Project
  let original: object
  beforeAll(async () => {
    const handler = `export default { ...worker(make), async scheduled() {} }`
    const sqlite = `
import { sqliteStore } from 'fieldgate/sqlite'
export const app = makeApp(sqliteStore({ path: 'books.db' }))
`
    const writes = `
for (let at = 0; at < 120; at += 1) await app.store.collection(Book).insert({ title: 'Book ' + at, pages: at })
await app.close()
`
    books = await project({
      'wrangler.toml': WRANGLER,
      '.dev.vars': 'SECRET="from .dev.vars"',
      'seed.ts': MODEL.replace('FIELDS', OLD) + sqlite + writes,
      'old.ts': MODEL.replace('FIELDS', OLD) + sqlite,
      'fits.ts': WORKER.replace('FIELDS', OLD) + handler,
      'worker.ts': WORKER.replace('FIELDS', NEW) + handler,
      'function.ts': `${WORKER.replace('FIELDS', OLD)}export const app = make`,
      'object.ts': `${WORKER.replace('FIELDS', OLD)}
import { appObject } from 'fieldgate/workers'
export const Api = appObject(make)
export default Api.worker({ binding: 'API' })`,
      'broken.ts': `${MODEL.replace('FIELDS', OLD)}
import { worker } from 'fieldgate/workers'
export default worker((env) => { throw new TypeError('no store for ' + Object.keys(env).toSorted()) })`,
    })
    expect(await books.node('seed.ts')).toMatchObject({ code: 0 })
  })
  afterAll(() => books.remove())

  /** What a copy to a new file tells of the collection. */
  async function copied(module: string, ...options: string[]): Promise<object> {
    const to = `sqlite:${module}.db`
    const { code, out } = await books.fieldgate('copy', module, ...options, '--to', to, '--json')
    expect(code).toBe(0)
    return JSON.parse(out).collections[0]
  }

  it('copy fills the database, and goes on where it was', async () => {
    const args = ['copy', './old.ts', '--to', 'd1:DB', '--json']
    const first = await books.fieldgate(...args)
    expect(first).toMatchObject({ code: 0 })
    const [collection] = JSON.parse(first.out).collections
    expect(collection).toMatchObject({ source: 120, target: 120, copied: 120 })
    const again = JSON.parse((await books.fieldgate(...args)).out).collections[0]
    expect(again).toEqual({ ...collection, copied: 0 })
  })

  // Of what a module can give, each is read once: a function here, the others by the commands that follow.
  it('copy reads it by its binding', async () => {
    original = await copied('./function.ts', '--from', 'd1:DB')
    expect(original).toMatchObject({ source: 120, target: 120 })
  })

  it('check reads it through an object', async () => {
    const { code, out } = await books.fieldgate('check', './object.ts', '--json')
    expect([code, out]).toEqual([0, '{"ok":true,"problems":[]}\n'])
  })

  it('check names what does not fit a changed model', async () => {
    const { code, out } = await books.fieldgate('check', './worker.ts', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out).problems).toMatchObject([
      { model: 'Book', problem: 'undeclared', field: 'pages', count: 120 },
      { model: 'Book', problem: 'missing', field: 'year', count: 120 },
    ])
  })

  it('a database that was exported and imported has the same records, and --env chooses it', async () => {
    const wrangler = async (...args: string[]) => {
      const { code, out } = await books.node(WRANGLER_BIN, 'd1', ...args, '--local')
      expect(code).toBe(0)
      return out
    }
    await wrangler('export', 'books', '--output', 'books.sql')
    const restored = ['restored', '--env', 'restored']
    await wrangler('execute', ...restored, '--file', 'books.sql')
    const again = await copied('./fits.ts', '--env', 'restored')
    expect(again).toEqual(original)
    const sql = `SELECT count(*) AS trusted, (SELECT count(*) FROM sqlite_master WHERE type = 'trigger') AS triggers,
      (SELECT count(*) FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE INDEX%') AS uniques FROM books WHERE shape IS NOT NULL`
    const rows = { trusted: 120, triggers: 1, uniques: 1 }
    expect(databasesIn(books.folder).map((db) => rowOf(db, sql))).toEqual([rows, rows])
  })

  it('ends with 2 and says why where there is no such binding, app or configuration', async () => {
    const codeAndError = async (args: readonly string[]) => {
      const { code, err } = await books.fieldgate(...args)
      return [code, err]
    }
    const cases = [
      ['copy', './old.ts', '--to', 'd1:BOOKS'],
      ['check', './broken.ts'],
      ['check', './fits.ts', '--config', 'none.toml'],
    ]
    expect(await Promise.all(cases.map(codeAndError))).toEqual([
      [
        2,
        "fieldgate copy: your wrangler configuration binds no D1 database as 'BOOKS'; it binds DB\n",
      ],
      [2, "fieldgate check: './broken.ts' could not make its app: no store for DB,SECRET\n"],
      [
        2,
        expect.stringMatching(
          /^fieldgate check: wrangler could not open the bindings: .*none\.toml/,
        ),
      ],
    ])
  })
})
