import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, ref } from '../../src/index.ts'
import { service } from '../records/service.ts'
import { faultyCache } from './faulty.ts'
import { library } from './library.ts'

describe('what a cache must not mix', () => {
  it('a cache that gives the reply to another question shows nobody what others asked for', async () => {
    const { cache, get, book, send, author } = await library()
    await send('POST', '/books', { json: { title: 'Provenance', price: 12 } })
    const users = ['ann', 'bob', 'eve'].map((user) => ({ 'x-user': user }))
    const paths = [
      '/books',
      '/books?title=Provenance',
      `/books/${book._id}`,
      `/authors/${author._id}`,
    ]
    const right = new Map<string, string>()
    const questions = users.flatMap((user) => paths.map((path) => ({ path, user })))
    for (const { path, user } of questions) {
      right.set(path + user['x-user'], (await get(path, user)).text)
    }
    // As clients of Redis have done after a request was given up half-way: its replies go to the next one.
    const { get: asked } = cache
    const replies: ReturnType<typeof asked>[] = [asked(''), asked('')]
    cache.get = (key) => {
      replies.push(asked(key))
      return replies.shift() ?? asked(key)
    }
    for (let round = 0; round < 3; round += 1) {
      for (const { path, user } of questions) {
        expect((await get(path, user)).text).toBe(right.get(path + user['x-user']))
      }
    }
  })

  it('an answer of a deployment that showed more is not met by the next one', async () => {
    const store = sqliteStore()
    const cache = faultyCache()
    const deployed = (hidden: readonly ('born' | 'secret')[]) => {
      const Person = defineModel('CachedPerson', {
        fields: { name: z.string(), born: z.number(), secret: z.string() },
        hidden,
      })
      const Paper = defineModel('CachedPaper', {
        fields: { title: z.string(), by: ref('CachedPerson') },
      })
      // The app of the earlier deployment would close the store of both.
      const served = service({ store: { ...store, close: async () => {} }, cache })
      const papers = { model: Paper, cache: true, allowedFields: ['title' as const] }
      served.app.mount('/papers', createRouter({ ...papers, onGet: () => ({ populate: 'by' }) }))
      served.app.mount('/people', createRouter({ model: Person, cache: true, allowedFields: [] }))
      return { ...served, Person, Paper }
    }
    const before = deployed([])
    const person = await before.app.store
      .collection(before.Person)
      .insert({ name: 'Ann', born: 1966, secret: 'do not tell' })
    await before.app.store.collection(before.Paper).insert({ title: 'On caches', by: person._id })
    const paths = ['/papers', '/people', `/people/${person._id}`]
    for (const path of paths) expect((await before.send('GET', path)).text).toContain('do not tell')
    const after = deployed(['secret'])
    for (const path of paths) {
      const answer = await after.send('GET', path)
      expect(answer.text).toContain('1966')
      expect(answer.text).not.toContain('do not tell')
    }
    const same = deployed(['secret'])
    for (const path of paths)
      expect((await same.send('GET', path)).headers.get('x-cache')).toBe('HIT')
  })

  it('an answer of a deployment that converted nothing is not met by the next one', async () => {
    const store = { ...sqliteStore(), close: async () => {} }
    const cache = faultyCache()
    const fields = { age: z.number() }
    const deployed = (convert?: (stored: unknown) => number) => {
      const model = defineModel('CachedAge', {
        fields,
        ...(convert && { convert: { age: convert } }),
      })
      const served = service({ store, cache })
      served.app.mount('/ages', createRouter({ model, cache: true, allowedFields: [] }))
      return served
    }
    const Text = defineModel('CachedAge', { fields: { age: z.string() } })
    const first = service({ store, cache })
    await first.app.store.collection(Text).insert({ age: '42' })
    const ages = async ({ send }: typeof first) => (await send('GET', '/ages')).records[0]?.age
    expect(await ages(deployed())).toBe('42')
    expect(await ages(deployed((stored) => Number(stored)))).toBe(42)
    expect(await ages(deployed((stored) => -Number(stored)))).toBe(-42)
  })

  it('an answer of a deployment that took other values is not met by the next one', async () => {
    const store = { ...sqliteStore(), close: async () => {} }
    const cache = faultyCache()
    const deployed = (fields: z.ZodRawShape, convert?: (stored: unknown) => unknown) => {
      const definition = { fields, ...(convert && { convert: { size: convert } }) }
      const model = defineModel('CachedSize', definition as never)
      const served = service({ store, cache })
      served.app.mount('/sizes', createRouter({ model, cache: true, allowedFields: [] }))
      return {
        model,
        shown: async () => (await served.send('GET', '/sizes')).records,
      }
    }
    const small = () => 'S'
    const sizes = (...of: [string, ...string[]]) => ({ size: z.enum(of).optional() })
    const later = deployed(sizes('S', 'M'), small)
    const { _id } = await service({ store })
      .app.store.collection(later.model)
      .insert({ size: 'M' } as never)
    const first = deployed(sizes('S', 'L'), small)
    expect(await first.shown()).toEqual([{ _id, size: 'S' }])
    expect(await later.shown()).toEqual([{ _id, size: 'M' }])
    const withDefault = (color: string) =>
      deployed({ ...sizes('M'), color: z.string().default(color) })
    expect(await withDefault('red').shown()).toEqual([{ _id, size: 'M', color: 'red' }])
    expect(await withDefault('blue').shown()).toEqual([{ _id, size: 'M', color: 'blue' }])
  })

  it('two apps with a database each tell their answers in one cache apart by the namespace', async () => {
    const cache = faultyCache(memoryCache())
    const one = await library({ cache: { namespace: 'one' } }, { cache })
    const two = await library({ cache: { namespace: 'two' } }, { cache })
    await one.send('PATCH', `/books/${one.book._id}`, { json: { price: 1 } })
    await two.send('PATCH', `/books/${two.book._id}`, { json: { price: 2 } })
    for (let time = 0; time < 2; time += 1) {
      expect((await one.get('/books')).records.map(({ price }) => price)).toEqual([1])
      expect((await two.get('/books')).records.map(({ price }) => price)).toEqual([2])
    }
  })
})
