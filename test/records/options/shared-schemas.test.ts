import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineModel, type Model, ref } from '../../../src/index.ts'
import { collectionSchema } from '../../../src/model/collection-schema.ts'
import { partsIn } from '../../../src/model/parts.ts'
import { referencesOf } from '../../../src/model/shape/reference.ts'

const Text = z.string()
const person = ref('SharedPerson')
const Person = defineModel('SharedPerson', {
  fields: {
    name: z.object({ first: Text, last: Text, parents: z.object({ a: person, b: person }) }),
  },
  indexes: ['name.first', 'name.last'],
})

test('one schema in several members is found in each', () => {
  const references = referencesOf(Person as unknown as Model).map(([path]) => path)
  expect(references).toEqual(['name.parents.a', 'name.parents.b'])
  const { unbounded } = collectionSchema(Person as unknown as Model)
  expect(unbounded).toEqual(['name.first', 'name.last'])
})

test('a schema inside itself is found once at each place around it', () => {
  const Tree: z.ZodType = z.object({
    name: Text,
    get kids() {
      return z.array(Tree).optional()
    },
  })
  const { parts, rest } = partsIn(z.object({ one: Tree, two: Tree }), 'of')
  const paths = new Set(parts.map(({ path }) => path))
  const inside = ['of.one', 'of.two'].flatMap((at) => [at, `${at}.name`, `${at}.kids`])
  expect([...paths].sort()).toEqual(['of', ...inside].sort())
  expect(rest).toBe(false)
})
