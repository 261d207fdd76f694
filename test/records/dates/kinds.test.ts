import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Model } from '../../../src/index.ts'
import { service } from '../service.ts'

const anything = z.custom(() => true)
const word = z.string()
const thing = z.object({ a: z.string() })
const other = z.object({ b: z.number() })

/** What a record may hold where values have both schemas; stores choose a column's type by it. */
const INTERSECTIONS: readonly (readonly [string, z.ZodType, string])[] = [
  ['a string and anything', word.and(anything), 'mixed'],
  ['anything and a string', z.any().and(word), 'mixed'],
  ['two strings', word.and(z.string().max(9)), 'string'],
  ['a string and a word', word.and(z.enum(['a', 'b'])), 'string'],
  ['a string and what it is made into', word.and(word.transform(Number)), 'mixed'],
  ['a number and anything', z.number().and(z.unknown()), 'mixed'],
  ['a number and an integer', z.number().and(z.int()), 'number'],
  ['a boolean and anything', z.boolean().and(anything), 'mixed'],
  ['a date and anything', z.date().and(z.any()), 'mixed'],
  ['two dates', z.date().and(z.date().min(0)), 'date'],
  ['anything and anything', z.any().and(z.unknown()), 'mixed'],
  ['anything and an object', z.any().and(thing), 'mixed'],
  ['two objects', thing.and(other), 'mixed'],
  ['an object and a loose object', thing.and(z.looseObject({})), 'mixed'],
  ['an object and itself', thing.and(thing), 'object'],
  ['an object and a record', thing.and(z.record(word, word)), 'mixed'],
  ['a list and anything', z.array(word).and(z.any()), 'mixed'],
  ['two lists', z.array(word).and(z.array(z.any())), 'mixed'],
  ['a record and anything', z.record(word, word).and(z.any()), 'mixed'],
]

describe('an intersection', () => {
  it.each(INTERSECTIONS)('of %s keeps the type that stores know', (_, schema, kind) => {
    const { shape } = defineModel('KindHeld', { fields: { field: schema } }) as unknown as Model
    expect(shape.fields.get('field')?.kind).toBe(kind)
  })

  it('of anything and an object may be filtered by', () => {
    const Held = defineModel('KindFiltered', { fields: { field: z.any().and(thing) } })
    const { app } = service()
    const router = createRouter({ model: Held, middlewares: [], query: ['field'] })
    expect(() => app.mount('/held', router)).not.toThrow()
  })
})
