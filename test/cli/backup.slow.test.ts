import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { libsqlStore } from '../../adapters/stores/sqlite/calls/libsql.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, defineModel } from '../../src/index.ts'
import { project } from './project.ts'

const APP = `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

const Book = defineModel('Book', { fields: { title: z.string() }, unique: ['title'] })
const path = process.env.IN_MEMORY ? ':memory:' : new URL('books.db', import.meta.url).pathname
export const app = createApp({ store: sqliteStore({ path }) })
app.mount('/books', createRouter({ model: Book, search: ['title'], allowedFields: ['title'], middlewares: [] }))
`
const Book = defineModel('Book', { fields: { title: z.string() }, unique: ['title'] })

async function books() {
  const made = await project({ 'app.ts': APP })
  onTestFinished(() => made.remove())
  const open = (file: string) =>
    createApp({ store: sqliteStore({ path: join(made.folder, file) }) })
  return { ...made, open }
}

describe('fieldgate backup', () => {
  it('copies what was written before it began, while others are written, and the copy works', async () => {
    const { fieldgate, folder, open } = await books()
    const app = open('books.db')
    const stored = app.store.collection(Book)
    for (let at = 0; at < 500; at += 1) await stored.insert({ title: `before ${at}` })
    let isOver = false
    let written = 0
    const writing = (async () => {
      while (!isOver) {
        await stored.insert({ title: `meanwhile ${written}` })
        written += 1
      }
    })()
    const made = await fieldgate('backup', './app.ts', '--to', 'copy.db', '--json')
    isOver = true
    await writing
    await app.close()

    expect(made).toMatchObject({ code: 0, err: '' })
    const { collections, file, bytes } = JSON.parse(made.out)
    expect([file, bytes > 0]).toEqual(['copy.db', true])
    const names = collections.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['books', 'fieldgate_models'])
    const checked = new DatabaseSync(join(folder, 'copy.db'), { readOnly: true })
    expect(checked.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    checked.close()
    const copy = open('copy.db')
    const titles = (await copy.store.collection(Book).find({})).map(({ title }) => title)
    expect(titles).toHaveLength(collections[0].records)
    expect(titles.filter((title) => title.startsWith('before'))).toHaveLength(500)
    // What was written meanwhile is there up to one moment, and nothing after it.
    const meanwhile = titles.filter((title) => title.startsWith('meanwhile'))
    expect(meanwhile).toEqual(meanwhile.map((_, at) => `meanwhile ${at}`))
    expect(written).toBeGreaterThan(0)
    await expect(copy.store.collection(Book).insert({ title: 'before 1' })).rejects.toMatchObject({
      status: 409,
    })
    await copy.close()
  })

  it('tells people what is in the copy', async () => {
    const { fieldgate, open } = await books()
    const app = open('books.db')
    await app.store.collection(Book).insert({ title: 'Emma' })
    await app.close()
    const { out } = await fieldgate('backup', './app.ts', '--to', 'copy.db')
    expect(out).toMatch(
      /^books: 1 record\nfieldgate_models: 1 record\ncopy\.db: [\d.]+ MB, checked\n$/,
    )
  })

  it('copies a file of libSQL', async () => {
    const app = APP.replace("'fieldgate/sqlite'", "'fieldgate/libsql'")
      .replaceAll('sqliteStore({ path })', "libsqlStore({ url: 'file:' + path })")
      .replaceAll('sqliteStore', 'libsqlStore')
    const { fieldgate, folder, remove } = await project({ 'app.ts': app })
    onTestFinished(() => remove())
    const open = (file: string) =>
      createApp({ store: libsqlStore({ url: `file:${join(folder, file)}` }) })
    const stored = open('books.db')
    await stored.store.collection(Book).insert({ title: 'Emma' })
    // The app still has the file open.
    const made = await fieldgate('backup', './app.ts', '--to', 'copy.db', '--json')
    await stored.close()
    expect(made).toMatchObject({ code: 0, err: '' })
    const copy = open('copy.db')
    expect(await copy.store.collection(Book).find({})).toMatchObject([{ title: 'Emma' }])
    await copy.close()
  })

  it('replaces no file, and makes none where it fails', async () => {
    const { fieldgate, folder, open } = await books()
    await open('books.db').ready()
    expect(await fieldgate('backup', './app.ts', '--to', 'app.ts')).toMatchObject({
      code: 2,
      err: expect.stringContaining("'app.ts' is there already"),
    })
    expect(await fieldgate('backup', './app.ts', '--to', 'no/such/copy.db')).toMatchObject({
      code: 2,
      err: "fieldgate backup: there is no folder 'no/such'\n",
    })
    expect(await fieldgate('backup', './app.ts', '--to', 'app.ts/copy.db')).toMatchObject({
      code: 2,
      err: "fieldgate backup: there is no folder 'app.ts'\n",
    })
    expect(await fieldgate('backup', './app.ts')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--to'),
    })
    expect(existsSync(join(folder, 'no'))).toBe(false)
  })
})
