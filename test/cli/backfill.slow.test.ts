import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, defineModel } from '../../src/index.ts'
import { RUNTIMES } from '../runtimes/commands.ts'
import { type Project, project } from './project.ts'

/** The app of now. */
const APP = `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

const Book = defineModel('Book', {
  fields: { title: z.string(), pages: z.number(), language: z.string().default('en') },
  unique: ['title'],
  renamed: { name: 'title' },
  convert: { pages: (stored) => (stored === 'unknown' ? undefined : Number(stored)) },
})
export const app = createApp({ store: sqliteStore({ path: new URL('books.db', import.meta.url).pathname }) })
app.mount('/books', createRouter({ model: Book, allowedFields: ['title'], middlewares: [] }))
`

/** The model that stored the records. */
const Old = defineModel('Book', {
  fields: { name: z.string(), pages: z.string() },
  indexes: ['pages'],
})

const cli = fileURLToPath(new URL('../../adapters/cli/fieldgate.ts', import.meta.url))

/** A project in whose database are `records` of the old model. */
async function books(records: readonly { name: string; pages: string }[]): Promise<Project> {
  const made = await project({ 'app.ts': APP })
  onTestFinished(() => made.remove())
  const app = createApp({ store: sqliteStore({ path: join(made.folder, 'books.db') }) })
  const stored = app.store.collection(Old)
  await Promise.all(records.map((record) => stored.insert(record)))
  await app.close()
  return made
}

/** The records as they are stored, under whatever names. */
async function stored({ folder }: Project): Promise<Record<string, unknown>[]> {
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(join(folder, 'books.db'), { readOnly: true })
  const rows = db.prepare('SELECT doc FROM books ORDER BY _id').all()
  db.close()
  return rows.map(({ doc }) => {
    const { _id, ...rest } = JSON.parse(String(doc))
    return rest
  })
}

/** Runs a backfill and kills it as soon as it tells how far it is. Resolves to what it told. */
async function killed({ folder }: Project): Promise<string> {
  const [command = '', ...flags] = RUNTIMES.node ?? []
  const run = spawn(command, [...flags, cli, 'backfill', './app.ts'], { cwd: folder })
  const ended = new Promise((resolve) => run.on('close', resolve))
  for await (const line of createInterface({ input: run.stderr })) {
    run.kill('SIGKILL')
    await ended
    return line
  }
  throw new Error('the backfill told nothing')
}

const many = Array.from({ length: 30_000 }, (_, at) => ({ name: `book ${at}`, pages: `${at}` }))

describe('fieldgate backfill', () => {
  it('stores new names, converted values and defaults, and tells how many', async () => {
    const made = await books(many.slice(0, 2))
    expect(await made.fieldgate('backfill', './app.ts')).toMatchObject({
      code: 0,
      out: 'Book: 2 of 2 records changed\nbooks: dropped the index books index ["pages"]\n',
    })
    expect(await stored(made)).toEqual([
      { title: 'book 0', pages: 0, language: 'en' },
      { title: 'book 1', pages: 1, language: 'en' },
    ])
    const again = await made.fieldgate('backfill', './app.ts', '--json')
    expect(JSON.parse(again.out)).toEqual({
      ok: true,
      models: [{ model: 'Book', records: 2, changed: 0 }],
      problems: [],
      dropped: [],
    })
  })

  it('names what it could not convert or move, and ends with 1', async () => {
    const made = await books([
      { name: 'a', pages: 'unknown' },
      { name: 'b', pages: '1' },
      { name: 'b', pages: '2' },
    ])
    const { code, out } = await made.fieldgate('backfill', './app.ts', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      models: [{ model: 'Book', records: 3, changed: 2 }],
      problems: [
        { model: 'Book', problem: 'type', field: 'pages', count: 1 },
        { model: 'Book', problem: 'duplicate', field: 'title', count: 1 },
      ],
    })
    const checked = await made.fieldgate('check', './app.ts', '--json')
    expect(JSON.parse(checked.out)).toMatchObject({
      problems: [{ problem: 'type' }, { problem: 'duplicate', count: 2 }],
    })
  })

  it('goes on where it was killed, and leaves nothing out', async () => {
    const made = await books(many)
    expect(await killed(made)).toContain('10,000 of 30,000')
    expect(await killed(made)).toContain('20,000 of 30,000')
    const { code, out, err } = await made.fieldgate('backfill', './app.ts')
    expect([code, err]).toEqual([0, expect.not.stringContaining(' 10,000 of')])
    expect(out).toContain('of 30,000 records changed')
    const wanted = many.map(({ name, pages }) => ({ title: name, pages: +pages, language: 'en' }))
    const found = await stored(made)
    expect(found.toSorted((a, b) => Number(a.pages) - Number(b.pages))).toEqual(wanted)
  })
})
