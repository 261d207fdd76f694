import { expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { createClient } from '../../src/client/index.ts'
import { createApp, createRouter, defineModel, type Store } from '../../src/index.ts'

const Tree = z.object({
  name: z.string(),
  get kids() {
    return z.array(Tree).optional()
  },
})
const Page = defineModel('RecursivePage', {
  fields: {
    extra: z.json(),
    tree: Tree,
    pair: z.tuple([z.string(), z.date()]),
    days: z.array(z.date()),
    rest: z.tuple([z.string()], z.date()),
    fixed: z.array(z.string()).readonly(),
  },
})

test('a client knows values that hold themselves, and the shape of lists', () => {
  const use = async (store: Store) => {
    const app = createApp({ store }).mount('/pages', createRouter({ model: Page }))
    const { create } = createClient<typeof app>('')('/pages')
    const made = await create({
      extra: { a: [1, null, { b: ['c'] }] },
      tree: { name: 'a', kids: [{ name: 'b', kids: [] }] },
      pair: ['a', new Date()],
      days: [new Date(), '2027-01-01'],
      rest: ['a', new Date()],
      fixed: ['a'],
    })
    if (!made.ok) return
    const { extra, tree, pair, days, rest, fixed } = made.data
    expectTypeOf(tree.kids?.[0]?.kids?.[0]?.name).toEqualTypeOf<string | undefined>()
    expectTypeOf(pair).toEqualTypeOf<[string, string]>()
    expectTypeOf(days).toEqualTypeOf<string[]>()
    expectTypeOf(rest).toEqualTypeOf<[string, ...string[]]>()
    expectTypeOf(fixed).toEqualTypeOf<readonly string[]>()
    // @ts-expect-error JSON has no functions
    expectTypeOf(extra).toExtend<() => void>()
    // @ts-expect-error a tuple has both
    await create({ ...made.data, pair: ['a'] })
  }
  expectTypeOf(use).toBeFunction()
})
