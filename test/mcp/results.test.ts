/** Results that would be too long, groups, and what is told to callers who may not see all fields. */

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Guard, HttpError, ref } from '../../src/index.ts'
import { type Agents, agents, type ToolResult } from './server.ts'

type Options = Partial<Parameters<typeof createRouter>[0]>

/** An app with 60 notes, in which the first is too long, at each of two mounts. */
async function notes(): Promise<Agents & { readonly ids: readonly unknown[] }> {
  const given = await agents()
  const Note = defineModel('McpNote', { fields: { at: z.number(), text: z.string() } })
  for (const [mount, pagination] of [
    ['/pages', 'offset'],
    ['/cursors', 'cursor'],
  ] as const) {
    given.app.mount(
      mount,
      createRouter({
        ...{ model: Note, middlewares: [], allowedFields: [], query: ['at'], pagination },
        aggregates: { by: ['at'], of: [] },
      }),
    )
  }
  const ids: unknown[] = []
  for (let at = 0; at < 60; at += 1) {
    const text = 'x'.repeat([30_000, 5, 15_000][at] ?? 600)
    ids.push((await given.app.store.collection(Note).insert({ at, text }))._id)
  }
  return { ...given, ids }
}

describe('a list with a record that is too long', () => {
  it.each(['/pages', '/cursors'])('shows its id alone, and all others whole: %s', async (model) => {
    const { tool, ids } = await notes()
    const seen: Record<string, unknown>[] = []
    let steps = 0
    let next: object | undefined = {}
    while (next) {
      const result = await tool('query_records', { model, ...next })
      const { data, pagination } = result.structuredContent
      const text = result.content[0]?.text ?? ''
      expect(text.length).toBeLessThanOrEqual(20_000)
      expect(JSON.parse(text)).toEqual(result.structuredContent)
      expect(result.content.some((one) => one.text.startsWith('Too long: '))).toBe(
        data.some((one: object) => !('at' in one)),
      )
      seen.push(...data)
      const { currentPage, totalPages, pageSize, nextCursor } = pagination
      const isMore = currentPage < totalPages || nextCursor
      next = isMore && (nextCursor ? { cursor: nextCursor } : { page: currentPage + 1, pageSize })
      steps += 1
    }
    expect(seen.map(({ _id }) => _id)).toEqual(ids)
    expect(seen.filter((one) => !('at' in one))).toEqual([{ _id: ids[0] }])
    expect(steps).toBeLessThan(60)
  })

  it('keeps the tag of one that is read alone', async () => {
    const { tool, ids } = await notes()
    const read = await tool('read_record', { model: '/pages', id: ids[0] })
    expect(read.structuredContent).toEqual({ data: { _id: ids[0] } })
    expect(read.content[2]?.text).toMatch(/^etag: /)
  })
})

describe('a description that is too long', () => {
  it('is there all the same', async () => {
    const { app, tool } = await agents()
    const text = z.string().describe('words '.repeat(100))
    const names = Array.from({ length: 60 }, (_, at) => `field${at}`)
    const fields = Object.fromEntries(names.map((name) => [name, text]))
    const model = defineModel('McpWide', { fields })
    app.mount('/wide', createRouter({ model, middlewares: [], allowedFields: [] }))
    const { data } = (await tool('describe_model', { model: '/wide' })).structuredContent
    expect(Object.keys(data.fields)).toEqual(expect.arrayContaining(names))
  })
})

describe('groups', () => {
  it('are as many as limit asks for, and the rest is reached by what groups take', async () => {
    const { tool } = await notes()
    const asked = { model: '/pages', aggregate: { count: true }, by: ['at'] }
    const all = await tool('query_records', { ...asked, limit: 100 })
    expect(all.structuredContent.data).toHaveLength(60)
    expect(all.content).toHaveLength(1)
    const some = await tool('query_records', { ...asked, limit: 40 })
    expect(some.structuredContent).toMatchObject({ pagination: { hasMore: true } })
    const { text } = some.content[1] ?? { text: '' }
    expect(text).toBe('There is more: filter or sort.')
    const rest = await tool('query_records', { ...asked, filter: { at: { gte: 40 } } })
    expect(rest.structuredContent.data).toHaveLength(20)
  })
})

describe('a number that makes no sense', () => {
  it('is refused by its own name', async () => {
    const { tool } = await notes()
    const groups = { aggregate: { count: true } }
    for (const [given, name] of [
      [{ limit: 'x' }, 'limit'],
      [{ limit: 0 }, 'limit'],
      [{ pageSize: 'x' }, 'pageSize'],
      [{ limit: null, pageSize: 1.5 }, 'pageSize'],
      [{ page: 'x' }, 'page'],
      [{ ...groups, limit: 'x' }, 'limit'],
    ] as const) {
      const { structuredContent } = await tool('query_records', { model: '/pages', ...given })
      expect(structuredContent.error).toBe(`'${name}' must be a positive integer.`)
    }
  })
})

const Person = defineModel('McpPerson', {
  fields: {
    name: z.string(),
    salary: z.number().optional(),
    home: z.object({ street: z.string() }).optional(),
    boss: ref('McpPerson').optional(),
  },
})
const FIELDS = ['name', 'salary', 'home.street', 'boss'] as const
/** A guard of your own: tells who calls, or refuses. */
const who: Guard = (request) => {
  const userId = request.headers.get('x-user')
  if (!userId) throw new HttpError(401, 'Who are you?')
  request.auth = { userId, claims: {} }
}

/** Describes people to `as`, and returns what refusals say too. */
async function told(as: string | undefined, more: Options = {}): Promise<string> {
  const { app, rpc } = await agents()
  app.mount(
    '/staff',
    createRouter({
      ...{ model: Person, middlewares: [who], allowedFields: ['name'], query: ['name'] },
      ...{ filterableFields: [...FIELDS], sortableFields: ['name', 'salary'] },
      ...{ search: ['name', 'home.street'], expandable: ['boss'] },
      aggregates: { by: ['name', 'salary'], of: ['salary'] },
      fieldsFor: ({ auth }) =>
        (auth as { userId: string }).userId === 'all' ? undefined : ['name'],
      ...(more as object),
    }),
  )
  const texts: string[] = []
  for (const given of [
    { name: 'describe_model' },
    { name: 'query_records', filter: { salry: 1 } },
    { name: 'query_records', sort: ['bos'] },
    { name: 'query_records', aggregate: { sum: ['x'] } },
  ]) {
    const { name, ...rest } = given
    const call = { name, arguments: { model: '/staff', ...rest } }
    const { body } = await rpc('tools/call', call, as === undefined ? {} : { 'x-user': as })
    texts.push(...(body.result as ToolResult).content.map(({ text }) => text))
  }
  return texts.join('\n')
}

describe('what a caller may not see', () => {
  it('is named neither in descriptions nor in what is said of refusals', async () => {
    const all = await told('all')
    for (const name of ['salary', 'home.street', 'boss']) expect(all).toContain(`"${name}"`)
    expect(all).toContain("Did you mean 'salary'?")
    const some = await told('some')
    expect(some).toContain('operators')
    expect(some).toContain('name')
    expect(some).not.toMatch(/salary|street|boss/)
  })

  it('is not named to write by either, unless they may write', async () => {
    expect(await told('some', { allowedFields: ['name', 'salary'] as never })).not.toContain(
      'salary',
    )
    expect(await told('all', { allowedFields: ['name', 'salary'] as never })).not.toContain(
      '"create"',
    )
  })

  it('is nothing where the guards refuse, as they refuse the read', async () => {
    const refused = await told(undefined)
    expect(refused).toContain('Who are you?')
    expect(refused).not.toMatch(/salary|street|boss|operators/)
  })

  it('is described by a read where there is no list', async () => {
    expect(await told('all', { enableQuery: false })).toContain('salary')
    const some = await told('some', { enableQuery: false })
    expect(some).toContain('operators')
    expect(some).not.toMatch(/salary|street|boss/)
  })
})
