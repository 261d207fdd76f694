import { expect, it } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel, type Fields } from '../../../src/index.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from './schemas.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it.each([
    ['of two searches', ['places', 'search_name'], ['places_search', 'name']],
    ['of a table and a search', ['places', 'name'], ['places_search_name', 'other']],
  ] as const)(
    'names that meet in the database are a start-up error with both models: %s',
    async (_, ...both) => {
      const quiet = () => {}
      const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
      const app = createApp({ store: postgresStore({ url, schema: fresh() }), logger })
      for (const [at, [collection, field]] of both.entries()) {
        const fields = { [String(field)]: z.string().max(50) }
        const model = defineModel(`Meeting${at}${collection}${field}`, {
          fields,
          collection,
        } as never)
        app.mount(`/m${at}`, createRouter({ model, search: [field], middlewares: [] } as never))
      }
      const error = await app.ready().then(
        () => '',
        ({ message }: Error) => message,
      )
      expect(error).toContain(
        `of 'places' and of '${both[1]?.[0]}'. Give one of these models another 'collection'`,
      )
      await app.close()
    },
  )

  it('a field may be called as what the statements of the store name', async () => {
    const names = ['the one', 'held', 'written', 'anchor', 'value0', 'element1', 'locked']
    const text = z.string().max(50).optional()
    const Named = defineModel('StatementNamed', {
      fields: Object.fromEntries(names.map((name) => [name, text])),
      changes: true,
    })
    const app = createApp({ store: postgresStore({ url, schema: fresh() }) })
    const named = app.store.collection(Named)
    const all = (value: string) => Object.fromEntries(names.map((name) => [name, value]))
    const { _id } = await named.insert(all('a'))
    expect(await named.update(_id, all('b'))).toEqual({ _id, ...all('b') })
    expect(await named.updateWhere({ held: 'b' }, all('c'))).toBe(1)
    expect(await named.find({})).toEqual([{ _id, ...all('c') }])
    await app.close()
  })

  it('a field may be called as the schema of what an index is made with', async () => {
    const text = z.string().max(50).optional()
    const Named = defineModel('SchemaNamed', { fields: { name: text, public: text, any: text } })
    const store = postgresStore({ url, schema: fresh() })
    const search = ['name', 'public'] as const
    const starts = async () => {
      const app = createApp({ store })
      app.mount('/named', createRouter({ model: Named, middlewares: [], search }))
      await app.ready()
      return hostOf(app.store, 'app').schemas()
    }
    const schemas = await starts()
    expect(await store.dropLeftOvers?.(schemas)).toEqual([])
    await starts()
    expect(await store.dropLeftOvers?.(schemas)).toEqual([])
    await store.close?.()
  })

  it('groups are in the order of their keys, whatever their fields are called', async () => {
    const Vote = defineModel('NumberedVote', {
      fields: { round: z.number(), 0: z.string().optional(), 1: z.string().optional() },
    })
    const app = createApp({ store: postgresStore({ url, schema: fresh() }) })
    const votes = app.store.collection(Vote)
    await votes.insert({ round: 2, 0: 'b', 1: 'x' })
    await votes.insert({ round: 2, 1: 'y' })
    await votes.insert({ round: 1, 0: 'a' })
    const by = ['round', '0', '1'] as never
    const counted = await votes.aggregate({ count: true, by })
    expect(counted).toEqual([
      { round: 1, 0: 'a', 1: null, count: 1 },
      { round: 2, 0: null, 1: 'y', count: 1 },
      { round: 2, 0: 'b', 1: 'x', count: 1 },
    ])
    const sorted = await votes.aggregate({ count: true, by, sort: ['-0'] as never })
    expect(sorted.map((group: Fields) => group['0'])).toEqual(['b', 'a', null])
    await app.close()
  })
})
