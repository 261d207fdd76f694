import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { smallDisk } from '../faults/disk/small-disk.ts'
import { project } from './project.ts'

const APP = `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

const Book = defineModel('Book', { fields: { title: z.string(), text: z.string() }, unique: ['title'] })
const path = new URL('books.db', import.meta.url).pathname
export const app = createApp({ store: sqliteStore({ path }) })
app.mount('/books', createRouter({ model: Book, search: ['title'], allowedFields: ['title'], middlewares: [] }))
`
const Book = defineModel('Book', {
  fields: { title: z.string(), text: z.string() },
  unique: ['title'],
})

/** A project whose database has so many books, of some 4 KB each. */
async function library(books: number) {
  const made = await project({ 'app.ts': APP })
  onTestFinished(() => made.remove())
  const at = (file: string) => join(made.folder, file)
  const open = (file: string) => {
    const app = createApp({ store: sqliteStore({ path: at(file) }) })
    const options = { search: ['title' as const], middlewares: [] }
    app.mount('/books', createRouter({ model: Book, allowedFields: ['title', 'text'], ...options }))
    return app
  }
  const app = open('books.db')
  const stored = app.store.collection(Book)
  for (let from = 0; from < books; from += 500) {
    const some = Array.from({ length: Math.min(500, books - from) }, (_, offset) => from + offset)
    await Promise.all(
      some.map((number) => stored.insert({ title: `Book ${number}`, text: 'x'.repeat(4000) })),
    )
  }
  await app.close()
  return { ...made, at, open }
}

describe('fieldgate backup, if something goes wrong', () => {
  it('leaves no file under its name when it is killed, and works the next time', async () => {
    const { command, folder, at, fieldgate } = await library(10_000)
    const [node, ...args] = command
    const begin = () =>
      spawn(node, [...args, 'backup', './app.ts', '--to', 'copy.db'], { cwd: folder })
    const isOver = ({ exitCode, signalCode }: ChildProcess) => (exitCode ?? signalCode) !== null
    let killed = 0
    // A machine that is too busy to look in time does not count; it looks again.
    for (let tries = 0; tries < 20 && killed < 3; tries += 1) {
      const run = begin()
      const closed = once(run, 'close')
      while (!isOver(run) && !existsSync(at('copy.db.unfinished'))) await setImmediate()
      run.kill('SIGKILL')
      const [, signal] = await closed
      if (signal === 'SIGKILL') {
        killed += 1
        expect(existsSync(at('copy.db'))).toBe(false)
      }
      rmSync(at('copy.db'), { force: true })
    }
    expect(killed).toBe(3)
    expect(await fieldgate('backup', './app.ts', '--to', 'copy.db')).toMatchObject({ code: 0 })
    expect(readdirSync(folder).filter((file) => file.startsWith('copy'))).toEqual(['copy.db'])
  })

  it('leaves the copy alone that another backup is writing', async () => {
    const { command, folder, at, fieldgate } = await library(10_000)
    const [node, ...args] = command
    const run = spawn(node, [...args, 'backup', './app.ts', '--to', 'copy.db'], { cwd: folder })
    const closed = once(run, 'close')
    while (run.exitCode === null && !existsSync(at('copy.db.unfinished'))) await setImmediate()
    run.kill('SIGSTOP')
    const { code, err } = await fieldgate('backup', './app.ts', '--to', 'copy.db')
    run.kill('SIGCONT')
    expect([code, err]).toEqual([2, expect.stringContaining('another backup is writing it')])
    expect(await closed).toEqual([0, null])
    expect(readdirSync(folder).filter((file) => file.startsWith('copy'))).toEqual(['copy.db'])
  })

  it('says so when the disk is full, and leaves nothing there', async () => {
    const { command, folder } = await library(3000)
    const disk = await smallDisk()
    onTestFinished(() => disk.remove())
    const backup = [...command, 'backup', './app.ts', '--to', join(disk.folder, 'copy.db')]
    // The disk is gone with its process, so that lists what is left.
    const script = `"$@"; echo "ended with $?"; ls -A '${disk.folder}'`
    const [first = '', ...rest] = [...disk.wrapper, 'sh', '-c', script, 'sh', ...backup]
    const { stdout, stderr } = await promisify(execFile)(first, rest, { cwd: folder })
    expect(stderr).toMatch(/^fieldgate backup: '.*copy\.db\.unfinished' can't be written: .+\n$/)
    expect(stdout).toMatch(/^ended with 2\n/)
    expect(stdout).not.toContain('copy.db')
  })

  it('gives the copy to nobody who may not read the database', async () => {
    const { at, fieldgate } = await library(1)
    chmodSync(at('books.db'), 0o600)
    await fieldgate('backup', './app.ts', '--to', 'copy.db')
    expect(statSync(at('copy.db')).mode & 0o777).toBe(0o600)
  })
})

describe('a backup that is put in the place of the database', () => {
  it('has all records, and search, unique fields and marks work', async () => {
    const { fieldgate, at, open } = await library(500)
    const first = open('books.db')
    // Rows that are gone leave gaps; the search finds rows by their number.
    for (let number = 0; number < 500; number += 7) {
      const [book] = await first.store.collection(Book).find({ title: `Book ${number}` })
      await first.store.collection(Book).delete(String(book?._id))
    }
    const kept = await first.store.collection(Book).find({}, { sort: '_id' })
    expect(await fieldgate('backup', './app.ts', '--to', 'backup.db')).toMatchObject({ code: 0 })
    await first.store.collection(Book).insert({ title: 'Lost', text: '' })
    await first.close()

    for (const end of ['', '-wal', '-shm']) rmSync(at(`books.db${end}`), { force: true })
    await rename(at('backup.db'), at('books.db'))

    const app = open('books.db')
    onTestFinished(() => app.close())
    expect(await app.store.collection(Book).find({}, { sort: '_id' })).toEqual(kept)
    const ask = async (path: string, init?: RequestInit) =>
      (await app.handle(new Request(`http://localhost${path}`, init))).json()
    const found = await ask('/books?s=ook%20499&page=1')
    expect(found).toMatchObject({ data: [{ title: 'Book 499' }], pagination: { totalRecords: 1 } })
    expect(await ask('/books?s=Lost')).toMatchObject({ data: [] })
    const post = (title: string) => {
      const headers = { 'Content-Type': 'application/json' }
      return ask('/books', { method: 'POST', headers, body: JSON.stringify({ title, text: '' }) })
    }
    expect(await post('Book 499')).toMatchObject({ fields: { title: 'Already exists.' } })
    expect(await post('Brand new')).toMatchObject({ success: true })
    expect(await ask('/books?s=brand')).toMatchObject({ data: [{ title: 'Brand new' }] })

    // A record that another program changes loses its mark, so what it adds is not shown.
    const other = new DatabaseSync(at('books.db'))
    const unmarked = () =>
      other.prepare('SELECT count(*) AS n FROM books WHERE shape IS NULL').get()
    expect(unmarked()).toEqual({ n: 0 })
    other.exec(
      `UPDATE books SET doc = json_set(doc, '$.secret', 1) WHERE doc ->> 'title' = 'Book 1'`,
    )
    expect(unmarked()).toEqual({ n: 1 })
    other.close()
    const [shown] = (await ask('/books?s=Book%201')).data
    expect(Object.keys(shown).toSorted()).toEqual(['_id', 'text', 'title'])
  })
})
