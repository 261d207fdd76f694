import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineModel } from '../../../src/index.ts'
import { didYouMean, noSuchField } from '../../../src/model/suggest.ts'

describe('start-up errors: the name that may be meant', () => {
  const names = ['name', 'country', 'population', 'createdAt', 'userId', 'id', 'a']

  test.each([
    ['nam', 'name'],
    ['nmae', 'name'],
    ['Name', 'name'],
    ['contry', 'country'],
    ['populaiton', 'population'],
    ['createdat', 'createdAt'],
    ['userid', 'userId'],
    ['ids', 'id'],
  ])("'%s' is near '%s'", (typed, meant) => {
    expect(didYouMean(typed, names)).toBe(` Did you mean '${meant}'?`)
  })

  test.each(['', 'x', 'zzzz', 'price', 'n', 'n'.repeat(100_000)])(
    "'%s' is near nothing",
    (typed) => {
      expect(didYouMean(typed, names)).toBe('')
    },
  )

  test('a dotted name is mended where it goes wrong', () => {
    const City = defineModel('SuggestCity', {
      fields: {
        address: z.object({ street: z.string(), geo: z.object({ lat: z.number() }) }),
        shops: z.array(z.object({ owner: z.string() })),
      },
    })
    const question = (path: string) => noSuchField('query', path, City)
    const start = (path: string) => `'query' lists '${path}', but SuggestCity has no such field.`
    for (const [path, meant] of [
      ['adress.street', 'address.street'],
      ['address.stret', 'address.street'],
      ['address.geo.lta', 'address.geo.lat'],
      ['shops.ownr', 'shops.owner'],
    ] as const) {
      expect(question(path)).toBe(`${start(path)} Did you mean '${meant}'?`)
    }
    expect(question('address.geo.lat.x')).toBe(start('address.geo.lat.x'))
    expect(question('nothing.like.it')).toBe(start('nothing.like.it'))
  })

  test('a member of a union, a tuple or a record is there, but has no name', () => {
    const a = z.object({ is: z.literal('a'), to: z.string() })
    const fields = {
      one: z.discriminatedUnion('is', [a, z.object({ is: z.literal('b') })]),
      both: z.object({ inside: a.and(z.object({ more: z.string() })).optional() }),
      pairs: z.array(z.tuple([a, z.int()])),
      keyed: z.record(z.string(), a),
      text: z.string(),
    }
    const Way = defineModel('SuggestWay', { fields })
    for (const [path, whole] of [
      ['one.to', 'one'],
      ['both.inside.to', 'both.inside'],
      ['pairs.to', 'pairs'],
      ['keyed.x.to', 'keyed'],
    ] as const) {
      const message = `'hidden' names '${path}', which is in '${whole}', whose values are of several types or have any keys: it can be named only as a whole.`
      expect(noSuchField('hidden', path, Way)).toBe(message)
      const hidden = [path] as never[]
      expect(() => defineModel('SuggestWay', { fields, hidden })).toThrow(message)
      expect(() => defineModel('SuggestWay', { fields, hidden: [whole] as never[] })).not.toThrow()
    }
    expect(noSuchField('hidden', 'text.to', Way)).toContain('no such field')
  })
})
