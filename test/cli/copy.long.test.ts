import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, defineModel } from '../../src/index.ts'
import { project } from './project.ts'

const APP = `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

export const Book = defineModel('Book', { fields: { title: z.string() } })
export const app = createApp({ store: sqliteStore({ path: new URL('books.db', import.meta.url).pathname }) })
app.mount('/books', createRouter({ model: Book, allowedFields: ['title'], middlewares: [] }))
`
const Book = defineModel('Book', { fields: { title: z.string() } })

async function books(titles: readonly string[]) {
  const made = await project({ 'app.ts': APP })
  onTestFinished(() => made.remove())
  const open = (file: string) =>
    createApp({ store: sqliteStore({ path: join(made.folder, file) }) })
  const app = open('books.db')
  for (const title of titles) await app.store.collection(Book).insert({ title })
  await app.close()
  const titlesIn = async (file: string) => {
    const copied = open(file)
    const found = await copied.store.collection(Book).find({})
    await copied.close()
    return found.map(({ title }) => title).toSorted()
  }
  return { ...made, open, titlesIn }
}

describe('fieldgate copy', () => {
  it('copies the records of the app to another store, and goes on where it was', async () => {
    const { fieldgate, open, titlesIn } = await books(['Emma', 'Persuasion'])
    const first = await fieldgate('copy', './app.ts', '--to', 'sqlite:copy.db')
    expect(first.code).toBe(0)
    expect(first.out).toMatch(
      /^books: 2 records, 2 copied now, checksum [0-9a-f]{16} on both sides\n$/,
    )
    const app = open('books.db')
    await app.store.collection(Book).insert({ title: 'Sanditon' })
    await app.close()
    const again = await fieldgate('copy', './app.ts', '--to', 'sqlite:copy.db', '--json')
    const checksum = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(JSON.parse(again.out)).toEqual({
      ok: true,
      collections: [{ collection: 'books', source: 3, target: 3, copied: 1, checksum }],
      lost: [],
    })
    expect(await titlesIn('copy.db')).toEqual(['Emma', 'Persuasion', 'Sanditon'])
  })

  it('says that the log of changes stays behind', async () => {
    const { fieldgate, folder } = await books(['Emma'])
    const logged = APP.replace('title: z.string() }', 'title: z.string() }, changes: true')
    await writeFile(join(folder, 'logged.ts'), logged)
    const { code, err } = await fieldgate('copy', './logged.ts', '--to', 'sqlite:copy.db')
    expect(code).toBe(0)
    expect(err).toContain(
      'books: the log of changes is not copied. Histories, consumers and webhooks begin anew in the target\n',
    )
    const without = await fieldgate('copy', './app.ts', '--to', 'sqlite:other.db')
    expect(without.err).not.toContain('log of changes')
  })

  it('takes another source than the store of the app', async () => {
    const { fieldgate, titlesIn } = await books(['Emma'])
    await fieldgate('copy', './app.ts', '--to', 'sqlite:one.db')
    expect(
      await fieldgate('copy', './app.ts', '--from', 'sqlite:one.db', '--to', 'sqlite:two.db'),
    ).toMatchObject({
      code: 0,
    })
    expect(await titlesIn('two.db')).toEqual(['Emma'])
  })

  it('ends with 1 where both sides differ', async () => {
    const { fieldgate, open } = await books(['Emma'])
    await fieldgate('copy', './app.ts', '--to', 'sqlite:copy.db')
    const copied = open('copy.db')
    await copied.store.collection(Book).insert({ title: 'Dubliners' })
    await copied.close()
    const { code, err } = await fieldgate('copy', './app.ts', '--to', 'sqlite:copy.db')
    expect([code, /'books': 1 record is in the target only/.test(err)]).toEqual([1, true])
  })

  it('ends with 2 where it cannot run', async () => {
    const { fieldgate } = await books([])
    expect(await fieldgate('copy', './app.ts')).toMatchObject({ code: 2 })
    expect(await fieldgate('copy', './app.ts', '--to', 'nowhere')).toMatchObject({
      code: 2,
      err: expect.stringContaining("'nowhere' is not a store"),
    })
    const misspelt = ['--from', 'sqlite:boks.db', '--to', 'sqlite:copy.db']
    expect(await fieldgate('copy', './app.ts', ...misspelt)).toMatchObject({
      code: 2,
      err: "fieldgate copy: there is no file 'boks.db'\n",
    })
  })

  it('is fieldgate-copy too, which takes the models alone', async () => {
    const { fieldgateCopy, titlesIn } = await books(['Emma'])
    const args = ['--from', 'sqlite:books.db', '--to', 'sqlite:copy.db', '--models', './app.ts']
    expect(await fieldgateCopy(...args)).toMatchObject({ code: 0 })
    expect(await titlesIn('copy.db')).toEqual(['Emma'])
  })
})
