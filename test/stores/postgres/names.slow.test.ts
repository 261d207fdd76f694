import { expect, it } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
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
})
