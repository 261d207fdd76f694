import { expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { createClient, type Populated } from '../../src/client/index.ts'
import { createApp, createRouter, defineModel, ref, type Store } from '../../src/index.ts'

const Ship = defineModel('TypedShownShip', {
  fields: {
    owner: ref('TypedShownUser'),
    friends: z.array(ref('TypedShownUser')),
    crew: z.object({ lead: ref('TypedShownUser'), size: z.int(), pin: z.string() }),
    marks: z.array(z.date()).brand('Marks'),
  },
  hidden: ['crew.pin'],
})

/** Compiled, never run. */
function made() {
  const onGet = () => ({ populate: ['owner', 'friends', 'crew.lead'] }) as const
  const common = { model: Ship, middlewares: [] }
  return createApp({ store: {} as Store })
    .mount('/ships', createRouter({ ...common, expandable: ['crew.lead', 'friends'] }))
    .mount('/filled', createRouter({ ...common, onGet }))
}
const api = () => createClient<ReturnType<typeof made>>('http://localhost')

test('records have no member that is hidden inside of a field, and lists with a brand are lists', () => {
  const one = async () => {
    const plain = await api()('/ships').get('a')
    if (!plain.ok) return
    expectTypeOf(plain.data.crew).toEqualTypeOf<{ lead: string; size: number }>()
    expectTypeOf(plain.data.marks).toEqualTypeOf<string[]>()
  }
  expectTypeOf(one).toBeFunction()
})

test('references that are filled in are ids, records or null, in lists and objects too', () => {
  const one = async () => {
    const expanded = await api()('/ships').get('a', { expand: ['crew.lead', 'friends'] })
    const filled = await api()('/filled').get('a')
    if (!expanded.ok || !filled.ok) return
    type Lead = { lead: string | Populated | null; size: number }
    expectTypeOf(expanded.data.crew).toEqualTypeOf<Lead>()
    expectTypeOf(expanded.data.friends).toEqualTypeOf<(string | Populated)[]>()
    expectTypeOf(expanded.data.owner).toEqualTypeOf<string>()
    expectTypeOf(filled.data.crew).toEqualTypeOf<Lead>()
    expectTypeOf(filled.data.friends).toEqualTypeOf<(string | Populated)[]>()
    expectTypeOf(filled.data.owner).toEqualTypeOf<string | Populated | null>()
  }
  expectTypeOf(one).toBeFunction()
})
