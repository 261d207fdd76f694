import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type RouterOptions } from '../../../src/index.ts'
import { service } from '../service.ts'

const PARAMETERS = [
  'page',
  'pageSize',
  'sort',
  's',
  'search',
  'cursor',
  'range',
  'rangeField',
  'compareField',
  'compareOperator',
  'compareValue',
]
const Row = defineModel('ReservedRow', {
  fields: {
    ...Object.fromEntries(PARAMETERS.map((name) => [name, z.string().optional()])),
    limit: z.string(),
  },
})

function mount(options: Partial<RouterOptions<Record<string, unknown>>>) {
  const served = service()
  served.app.mount(
    '/rows',
    createRouter({ allowedFields: ['limit'], ...options, model: Row } as never),
  )
  return served
}

describe('2.6 query: a field that is named like a parameter of lists', () => {
  test.each(PARAMETERS)("'%s' is refused at start-up, and the error says what to do", (name) => {
    const message = `Router '/rows': 'query' lists '${name}', but ?${name}= is a parameter of every list. Rename the field, or list it in 'filterableFields' for QUERY`
    for (const options of [{}, { legacyMode: true }, { pagination: 'cursor' as const }]) {
      expect(() => mount({ query: ['limit', name], ...options })).toThrow(new TypeError(message))
    }
  })

  test.each(PARAMETERS)(
    "'%s' may stand in every other list, and QUERY filters by it",
    async (name) => {
      const { app, send } = mount({
        query: ['limit'],
        filterableFields: [name],
        sortableFields: [name],
        search: [name],
        orderBy: name,
      })
      const stored = app.store.collection(Row)
      await stored.insert({ limit: 'x', [name]: 'b' })
      await stored.insert({ limit: 'x', [name]: 'a' })
      const { records } = await send('QUERY', '/rows', { json: { filter: { [name]: 'b' } } })
      expect(records).toMatchObject([{ [name]: 'b' }])
      expect((await send('GET', `/rows?limit=x&rangeField=${name}&s=a`)).records).toHaveLength(1)
    },
  )

  test.each(['a[b]', 'a[', 'a[]'])(
    "'%s' is refused in query, as brackets are in URLs",
    async (name) => {
      const Model = defineModel('ReservedBracket', { fields: { [name]: z.string() } })
      const routed = (options: object) => {
        const made = service()
        const router = { model: Model, middlewares: [], allowedFields: [name], ...options }
        made.app.mount('/rows', createRouter(router as never))
        return made
      }
      expect(() => routed({ query: [name] })).toThrow(
        new TypeError(
          `Router '/rows': 'query' lists '${name}', but brackets in a URL are refused as operators. Rename the field, or list it in 'filterableFields' for QUERY`,
        ),
      )
      const { send } = routed({ filterableFields: [name], sortableFields: [name], search: [name] })
      await send('POST', '/rows', { json: { [name]: 'b' } })
      const json = { filter: { [name]: 'b' }, sort: name, search: 'b' }
      expect((await send('QUERY', '/rows', { json })).records).toMatchObject([{ [name]: 'b' }])
      const named = encodeURIComponent(name)
      expect((await send('GET', `/rows?sort=${named}&s=b`)).records).toHaveLength(1)
    },
  )

  test('other signs in a name work in URLs', async () => {
    const names = ['b]', '[b]', 'e&f', 'g=h', 'i j', 'k+l', 'm%n', 'p,q', '#r', 'u?v', 'é']
    for (const name of names) {
      const Model = defineModel('ReservedSign', { fields: { [name]: z.string() } })
      const { app, send } = service()
      const router = { model: Model, middlewares: [], allowedFields: [name], query: [name] }
      app.mount('/rows', createRouter(router as never))
      for (const value of ['b', 'a']) await send('POST', '/rows', { json: { [name]: value } })
      const named = encodeURIComponent(name)
      const { records } = await send('GET', `/rows?${named}=a&sort=-${named}`)
      expect(records).toMatchObject([{ [name]: 'a' }])
    }
  })

  test("a name can't begin like a descending sort", () => {
    const error =
      "Model 'ReservedMinus': a field cannot be named '-a': '-' begins a descending sort"
    expect(() => defineModel('ReservedMinus', { fields: { '-a': z.string() } })).toThrow(
      new TypeError(error),
    )
  })

  test('names that steer only a QUERY or an upload are fields like others', () => {
    for (const name of ['limit', 'filter', 'fields', 'imgOptimizations', 'Page', 'pages']) {
      const Model = defineModel('ReservedOther', { fields: { [name]: z.string() } })
      const { app } = service()
      const router = createRouter({ model: Model, query: [name], allowedFields: [] })
      expect(() => app.mount('/others', router)).not.toThrow()
    }
  })
})
