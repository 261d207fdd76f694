import { link, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { type Project, project } from './project.ts'

const app = (file: string, collection = 'books') => `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'
const Book = defineModel('Book', { fields: { title: z.string() }, collection: '${collection}' })
export const app = createApp({ store: sqliteStore({ path: '${file}' }) })
app.mount('/books', createRouter({ model: Book, allowedFields: ['title'], middlewares: [] }))
`

let made: Project
const files = async () => (await readdir(made.folder)).toSorted()

beforeAll(async () => {
  made = await project({
    'app.ts': app('books.db'),
    'gone.ts': app('gone.db'),
    'unset.ts': app(''),
    'foreign.ts': app('foreign.db'),
    'other.ts': app('books.db', 'others'),
    'fill.ts': `import { app } from './app.ts'
await app.ready()
await app.handle(new Request('http://x/books', { method: 'POST', body: '{"title":"a"}', headers: { 'content-type': 'application/json' } }))
await app.close()`,
  })
  expect(await made.node('fill.ts')).toMatchObject({ code: 0 })
  await symlink('books.db', join(made.folder, 'linked.db'))
  await link(join(made.folder, 'books.db'), join(made.folder, 'hard.db'))
})
afterAll(() => made.remove())

describe('a command that reads', () => {
  it.each([
    ['check'],
    ['backfill'],
    ['backup', '--to', 'new.db'],
    ['doctor'],
    ['copy', '--to', 'sqlite:new.db'],
  ])('%s ends with 2 and makes nothing if the database is not there', async (command, ...args) => {
    const before = await files()
    const { code, out, err } = await made.fieldgate(command, './gone.ts', ...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain("there is no file 'gone.db' in ")
    expect(await files()).toEqual(before)
  })

  it('asks whether it is the right database, and makes no tables in one of another program', async () => {
    const foreign = new DatabaseSync(join(made.folder, 'foreign.db'))
    foreign.exec('CREATE TABLE theirs (a)')
    for (const command of ['check', 'backfill']) {
      const { code, out } = await made.fieldgate(command, './foreign.ts')
      const asked = 'No model has a record in the store: is it the right one?\n'
      expect([command, code, out]).toEqual([command, 0, asked])
    }
    const tables = foreign.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    expect(tables).toEqual([{ name: 'theirs' }])
    foreign.close()
  })

  it('ends with 2 and makes nothing if the database has no name', async () => {
    const before = await files()
    const { code, out, err } = await made.fieldgate('check', './unset.ts')
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain("'path' must be the name of a file")
    expect(await files()).toEqual(before)
  })

  it('needs no database to print the OpenAPI document or the audit, and makes none', async () => {
    const before = await files()
    const { code, out } = await made.fieldgate('openapi', './gone.ts')
    expect([code, JSON.parse(out).info.title]).toEqual([0, 'API'])
    const audit = await made.fieldgate('audit', './gone.ts')
    expect([audit.code, JSON.parse(audit.out)]).toEqual([0, expect.any(Array)])
    expect(await files()).toEqual(before)
  })
})

describe('a backup', () => {
  it('without a table of the models ends with 1', async () => {
    const { code, err } = await made.fieldgate('backup', './other.ts', '--to', 'others.db')
    expect([code, err]).toEqual([
      1,
      `fieldgate backup: 'books.db' has no table of your models (others): is it the right file?\n`,
    ])
  })
})

describe('a copy', () => {
  it.each(['books.db', './books.db', '../x/../books.db', 'linked.db', 'hard.db'])(
    'of a database onto itself is refused: %s',
    async (file) => {
      const path = file.replace('../x/..', made.folder)
      const { code, out, err } = await made.fieldgate('copy', './app.ts', '--to', `sqlite:${path}`)
      expect([code, out]).toEqual([2, ''])
      expect(err).toContain('the source and the target are the same database')
    },
  )

  it('of a source that has none of the records ends with 1', async () => {
    const { code, err } = await made.fieldgate('copy', './other.ts', '--to', 'sqlite:copied.db')
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('the source has no record of your models'),
    ])
  })

  it('to another file keeps what there is, though the store of the app is not there', async () => {
    const options = ['--from', 'sqlite:books.db', '--to', 'sqlite:kept.db']
    const { code } = await made.fieldgate('copy', './gone.ts', ...options)
    expect([code, (await files()).includes('gone.db')]).toEqual([0, false])
  })
})

it('the command tells its version and its help', async () => {
  const version = await made.fieldgate('--version')
  expect(version).toMatchObject({ code: 0, out: `${packageJson.version}\n` })
  expect((await made.fieldgate('--help')).code).toBe(0)
})

it('a store without the name of a file is a mistake of the program', () => {
  expect(() => sqliteStore({ path: '' })).toThrow(TypeError)
})
