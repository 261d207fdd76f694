import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createAuthRouter, createRouter, defineModel, ref, userFields } from '../../../src/index.ts'
import type { FieldSchemas } from '../../../src/model/model.ts'
import { service } from '../service.ts'

defineModel('ReferencesTarget', { fields: { name: z.string() } })
const TYPO = 'ReferencesTraget'
const refused = (model: string, field: string) =>
  `Model '${model}': '${field}' refers to '${TYPO}', but no model has that name. Did you mean 'ReferencesTarget'?`

/** A tree whose leaves refer to a model. */
const tree = (name: string): z.ZodType =>
  z.object({
    leaf: ref(name).optional(),
    get next() {
      return z.lazy(() => tree(name)).optional()
    },
  })

describe('start-up: a reference to a model that nobody defined', () => {
  const places: readonly [string, string, (name: string) => FieldSchemas][] = [
    ['a field', 'to', (name) => ({ to: ref(name) })],
    ['an optional field', 'to', (name) => ({ to: ref(name).optional() })],
    ['a nullish field', 'to', (name) => ({ to: ref(name).nullish() })],
    ['a list', 'to', (name) => ({ to: z.array(ref(name)) })],
    ['an object', 'at.to', (name) => ({ at: z.object({ to: ref(name) }).optional() })],
    ['objects in a list', 'at.to', (name) => ({ at: z.array(z.object({ to: ref(name) })) })],
    ['a map', 'to', (name) => ({ to: z.record(z.string(), ref(name)) })],
    [
      'a union of references',
      'to',
      (name) => ({ to: z.union([ref('ReferencesTarget'), ref(name)]) }),
    ],
    [
      'a union of objects',
      'at.to',
      (name) => ({
        at: z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('a') }),
          z.object({ kind: z.literal('b'), to: ref(name) }),
        ]),
      }),
    ],
    ['a tuple', 'to', (name) => ({ to: z.tuple([z.string(), ref(name)]) })],
    ['a pipe', 'to', (name) => ({ to: z.string().pipe(ref(name)) })],
    ['a tree', 'tree.leaf', (name) => ({ tree: tree(name) })],
  ]

  test.each(places)(
    'in %s is an error that names the model and %s',
    async (place, field, fields) => {
      const name = `References ${place}`
      const Model = defineModel(name, { fields: fields(TYPO), collection: 'broken' })
      const { app } = service()
      app.mount('/things', createRouter({ model: Model, allowedFields: [] }))
      await expect(app.ready()).rejects.toThrow(new TypeError(refused(name, field)))
      const fine = service()
      const Mended = defineModel(name, { fields: fields('ReferencesTarget'), collection: 'mended' })
      fine.app.mount('/things', createRouter({ model: Mended, allowedFields: [] }))
      await fine.app.ready()
    },
  )

  test('is one in a model that only app.store serves, and in one that a reference leads to', async () => {
    const Stored = defineModel('ReferencesStored', { fields: { to: ref(TYPO) } })
    const { app } = service()
    await expect(app.store.collection(Stored).find()).rejects.toThrow(
      refused('ReferencesStored', 'to'),
    )
    const Outer = defineModel('ReferencesOuter', { fields: { to: ref('ReferencesStored') } })
    const other = service()
    other.app.mount('/outer', createRouter({ model: Outer, allowedFields: [] }))
    await expect(other.app.ready()).rejects.toThrow(refused('ReferencesStored', 'to'))
  })

  test('is one in the model of accounts', async () => {
    const User = defineModel('ReferencesUser', {
      fields: { ...userFields(), team: ref(TYPO).optional() },
      unique: ['email'],
    })
    const { app } = service()
    app.mount('/auth', createAuthRouter({ model: User, token: { secret: 's'.repeat(32) } }).router)
    await expect(app.ready()).rejects.toThrow(refused('ReferencesUser', 'team'))
  })

  test('says what to do where no name is near', async () => {
    const Far = defineModel('ReferencesFar', { fields: { to: ref('Zzzzzzzzzzz') } })
    const { app } = service()
    app.mount('/far', createRouter({ model: Far, allowedFields: [] }))
    await expect(app.ready()).rejects.toThrow(
      "Model 'ReferencesFar': 'to' refers to 'Zzzzzzzzzzz', but no model has that name. Define it, or import the file that does, before the app starts.",
    )
  })

  test('is none where the model is defined before the app starts, or refers to itself', async () => {
    const Early = defineModel('ReferencesEarly', {
      fields: { to: ref('ReferencesLate'), twin: ref('ReferencesEarly').optional() },
    })
    const one = service()
    const two = service()
    for (const { app } of [one, two]) {
      app.mount('/early', createRouter({ model: Early, allowedFields: ['to'] }))
    }
    defineModel('ReferencesLate', { fields: { back: ref('ReferencesEarly').optional() } })
    await one.app.ready()
    expect((await two.send('GET', '/early')).status).toBe(200)
  })
})
