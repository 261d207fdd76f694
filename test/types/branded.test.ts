import { expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { createClient } from '../../src/client/index.ts'
import { createApp, createRouter, defineModel, type Store } from '../../src/index.ts'

const Branded = defineModel('TypedBranded', {
  fields: { code: z.string().brand<'Code'>(), count: z.number().brand<'Count'>().optional() },
})

/** Compiled, never run. */
async function compiled(store: Store, code: string & z.$brand<'Code'>): Promise<void> {
  const router = createRouter({ model: Branded, query: ['code', 'count'] })
  const app = createApp({ store }).mount('/branded', router)
  const { list } = createClient<typeof app>('http://localhost')('/branded')
  await list({ where: { code } })
  await list({ where: { code: { in: [code, 'x'] }, count: { gte: 3 } } })
  // @ts-expect-error
  await list({ where: { code: 3 } })
  // @ts-expect-error
  await list({ where: { count: '3' } })
}

test('a branded field is compared with values of its type, with the brand or without', () => {
  expectTypeOf(compiled).toBeFunction()
})
