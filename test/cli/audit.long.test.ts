import { execFileSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Project, project } from './project.ts'

const BASE = `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { postgresStore } from 'fieldgate/postgres'

const Book = defineModel('Book', { fields: { title: z.string(), price: z.number().optional() }, hidden: ['price'] })
export const app = createApp({ store: postgresStore({ url: 'postgres://nobody@127.0.0.1:1/none' }) })
app.mount('/books', createRouter({ model: Book, allowedFields: ['title'], middlewares: [] }))
`

describe('fieldgate audit', () => {
  let folder: Project
  beforeAll(async () => {
    folder = await project({
      'app.ts': BASE,
      'open.ts': BASE.replace("allowedFields: ['title']", "allowedFields: ['title', 'price']"),
      'file.ts': BASE.replace(/postgres/g, 'sqlite').replace(/url: '[^']*'/, "path: 'books.db'"),
      'empty.ts': BASE.replace(/app\.mount.*/, ''),
      'other.json': '{"rows":[]}',
      'configured.ts': `if (!process.env.KEY) throw new Error('KEY is missing.')\n${BASE}`,
      '.env': 'KEY=value',
    })
  })
  afterAll(() => folder.remove())

  it('prints a row for each route, without a database', async () => {
    const { code, out } = await folder.fieldgate('audit', './app.ts')
    expect(code).toBe(0)
    expect(out.split('\n')).toHaveLength(9)
    expect(JSON.parse(out)[2]).toEqual({
      method: 'POST',
      path: '/books',
      model: 'Book',
      who: 'anyone',
      scope: false,
      read: ['_id', 'title'],
      write: ['title'],
      filter: [],
      sort: [],
      search: [],
    })
    expect((await folder.fieldgate('audit', './empty.ts')).out).toBe('[]\n')
  })

  it('needs no database file, and makes none', async () => {
    const { code, err } = await folder.fieldgate('audit', './file.ts')
    expect([code, err]).toEqual([0, ''])
    expect(await readdir(folder.folder)).not.toContain('books.db')
  })

  it('prints a table for people', async () => {
    const { out } = await folder.fieldgate('audit', './app.ts', '--table')
    expect(out).toMatch(/^method +path +who +scope +read +write +filter +sort +search$/m)
    expect(out).toMatch(/^PATCH +\/books\/:id +anyone +all +_id title +title +- +- +-$/m)
  })

  it('prints what has changed since, and ends with 1', async () => {
    const before = join(folder.folder, 'audit.json')
    await writeFile(before, (await folder.fieldgate('audit', './app.ts')).out)
    const same = await folder.fieldgate('audit', './app.ts', '--against', before)
    expect([same.code, same.out]).toEqual([0, '6 routes, none has changed\n'])
    const pipe = join(folder.folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const piped = folder.fieldgate('audit', './app.ts', '--against', pipe)
    await writeFile(pipe, await readFile(before))
    expect((await piped).out).toBe(same.out)
    const { code, out } = await folder.fieldgate('audit', './open.ts', '--against', before)
    const signs = out
      .trim()
      .split('\n')
      .map((line) => line.slice(0, 20))
    expect([code, signs]).toEqual([
      1,
      [
        '- {"method":"POST","',
        '- {"method":"PATCH",',
        '+ {"method":"POST","',
        '+ {"method":"PATCH",',
      ],
    ])
  })

  it('reads the variables of .env, as the app does when it starts', async () => {
    expect((await folder.fieldgate('audit', './configured.ts')).code).toBe(0)
  })

  it('ends with 2 for a file that it cannot compare with', async () => {
    const missing = await folder.fieldgate('audit', './app.ts', '--against', './none.json')
    expect([missing.code, missing.err]).toEqual([
      2,
      expect.stringMatching(/^fieldgate audit: --against: '\.\/none\.json' could not be read: /),
    ])
    const { code, err } = await folder.fieldgate('audit', './app.ts', '--against', 'other.json')
    expect([code, err]).toEqual([
      2,
      "fieldgate audit: --against: 'other.json' is not what fieldgate audit prints\n",
    ])
  })
})
