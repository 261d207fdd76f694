import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { project } from './project.ts'

const APP = `
import * as z from 'zod'
import { createApp, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

export const Book = defineModel('Book', { fields: { title: z.string(), sold: z.number() } })
export const app = createApp({ store: sqliteStore({ path: new URL('books.db', import.meta.url).pathname }) })
export const books = app.store.collection(Book)
`
/** Writes without a pause, as an app with many clients does: new books, sold ones and removed ones. */
const WRITER = `
import { books } from './app.ts'

const first = await Promise.all(Array.from({ length: 12_000 }, (_, at) => books.insert({ title: 'Book ' + at, sold: 0 })))
console.log('begun')
for (let at = 0; ; at += 1) {
  await books.insert({ title: 'New ' + at, sold: 0 })
  await books.update(first[(at * 7) % 6000]._id, { sold: at })
  if (at < 6000) await books.delete(first[6000 + at]._id)
}
`

it('a copy from an app that another process writes to says so, and what to do', async () => {
  const { folder, command, fieldgate, remove } = await project({
    'app.ts': APP,
    'writer.ts': WRITER,
  })
  onTestFinished(() => remove())
  const [node, ...args] = command
  const writer = spawn(node, [...args.slice(0, -1), 'writer.ts'], { cwd: folder })
  onTestFinished(() => {
    writer.kill('SIGKILL')
  })
  await once(createInterface(writer.stdout), 'line')

  const meanwhile = await fieldgate('copy', './app.ts', '--to', 'sqlite:copy.db', '--json')
  expect(meanwhile.code).toBe(1)
  const { ok, collections, error } = JSON.parse(meanwhile.out)
  expect({ ok, collections }).toEqual({ ok: false, collections: [] })
  expect(error).toMatch(/the source was written to .*Stop whatever writes to the source/i)
  expect(error).not.toMatch(/-\d|_id of another type/)
  expect(meanwhile.err).toContain(`fieldgate copy: ${error}\n`)

  const gone = once(writer, 'close')
  writer.kill('SIGKILL')
  await gone
  const again = await fieldgate('copy', './app.ts', '--to', 'sqlite:copy.db', '--json')
  expect([again.code, JSON.parse(again.out).error]).toEqual([
    1,
    expect.stringMatching(/^'books': .* different in the target .* Copy into an empty target/),
  ])
  const empty = await fieldgate('copy', './app.ts', '--to', 'sqlite:other.db', '--json')
  const [copied] = JSON.parse(empty.out).collections
  expect([empty.code, copied.source > 6000, copied.target]).toEqual([0, true, copied.source])
})
