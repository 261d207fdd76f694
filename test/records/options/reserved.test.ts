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

  test('names that steer only a QUERY or an upload are fields like others', () => {
    for (const name of ['limit', 'filter', 'fields', 'imgOptimizations', 'Page', 'pages']) {
      const Model = defineModel('ReservedOther', { fields: { [name]: z.string() } })
      const { app } = service()
      const router = createRouter({ model: Model, query: [name], allowedFields: [] })
      expect(() => app.mount('/others', router)).not.toThrow()
    }
  })
})
