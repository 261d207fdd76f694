import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Project, project } from './project.ts'

/** A user's project: an app whose model has changed since its one record was written. */
const APP = `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

const Book = defineModel('Book', { fields: FIELDS })
export const app = createApp({ store: sqliteStore({ path: new URL('books.db', import.meta.url).pathname }) })
app.mount('/books', createRouter({ model: Book, allowedFields: ['title'], middlewares: [] }))
`
const appWith = (fields: string) => APP.replace('FIELDS', fields)
const servingOn = (port: number) => `${appWith('{ title: z.string(), pages: z.number() }')}
const { serve } = await import('fieldgate/node')
await serve(app, { hostname: '127.0.0.1', port: ${port} })`

describe('fieldgate check', () => {
  let folder: Project
  const fieldgate = (...args: string[]) => folder.fieldgate(...args)
  beforeAll(async () => {
    const writes = `await app.store.collection(Book).insert({ title: 'Emma', pages: 474 })\nawait app.close()`
    folder = await project({
      'old.ts': appWith('{ title: z.string(), pages: z.number() }') + writes,
      'app.ts': appWith('{ title: z.string(), year: z.number() }'),
      'fits.ts': appWith('{ title: z.string(), pages: z.number() }'),
      'empty.ts': appWith('{ title: z.string() }').replace('books.db', 'other.db'),
      'none.ts': 'export const nothing = 1',
      'serves.ts': servingOn(0),
    })
    expect(await folder.node('old.ts')).toMatchObject({ code: 0 })
  })
  afterAll(() => folder.remove())

  it('prints a table of what does not fit, with what to do, and ends with 1', async () => {
    const { code, out } = await fieldgate('check', './app.ts')
    expect(code).toBe(1)
    expect(out).toMatch(/^model +problem +field +records +for example +what to do\n/)
    expect(out).toMatch(/\nBook +undeclared +pages +1 +[0-9a-f]{24} +clients never see it/)
    expect(out).toMatch(/\nBook +missing +year +1 +[0-9a-f]{24} +give the field a default/)
  })

  it('gives one JSON value with --json', async () => {
    const { code, out } = await fieldgate('check', './app.ts', '--json')
    const id = expect.stringMatching(/^[0-9a-f]{24}$/)
    expect(code).toBe(1)
    expect(JSON.parse(out)).toEqual({
      ok: false,
      problems: [
        { model: 'Book', problem: 'undeclared', field: 'pages', count: 1, examples: [id] },
        { model: 'Book', problem: 'missing', field: 'year', count: 1, examples: [id] },
      ],
    })
  })

  it('ends with 0 where all records fit', async () => {
    const fits = await fieldgate('check', './fits.ts')
    expect([fits.code, fits.out]).toEqual([0, 'All records fit their models.\n'])
  })

  it('asks whether a store without any record is the right one', async () => {
    await writeFile(join(folder.folder, 'other.db'), '')
    const { code, out } = await fieldgate('check', './empty.ts')
    const question = 'No model has a record in the store: is it the right one?\n'
    expect([code, out]).toEqual([0, question])
  })

  it('ends by itself, although the module that it imports serves', async () => {
    const serves = await fieldgate('check', './serves.ts')
    expect([serves.code, serves.out]).toEqual([0, 'All records fit their models.\n'])
  })

  it('says what to do where the port of a module that serves is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    await writeFile(join(folder.folder, 'taken.ts'), servingOn(port))
    const serves = await fieldgate('check', './taken.ts')
    expect(serves.code).toBe(2)
    expect(serves.err).toContain(
      "fieldgate check: './taken.ts' serves, and its port is in use. Name a file that exports the app and does not serve it\n",
    )
  })

  it.each([
    [['check', './missing.ts'], /there is no file '\.\/missing\.ts' in /],
    [['check', './none.ts'], /exports no app\. Write in it: export const app = createApp/],
    [['check'], /name the file that exports your app/],
    [['check', './app.ts', '--nope'], /'--nope'/],
  ])('ends with 2 and says why where it cannot run: %s', async (args, why) => {
    const { code, err } = await fieldgate(...args)
    expect(code).toBe(2)
    expect(err).toMatch(why)
  })

  it('lists its commands, and ends with 2 for one that it does not have', async () => {
    expect(await fieldgate()).toMatchObject({ code: 0, out: expect.stringContaining('  check ') })
    expect(await fieldgate('chekc')).toMatchObject({ code: 2 })
  })
})
