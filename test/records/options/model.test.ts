import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Model } from '../../../src/index.ts'
import {
  createRouter,
  defineModel,
  type Fields,
  type ModelDefinition,
  ref,
} from '../../../src/index.ts'
import { service } from '../service.ts'

/** A definition as a JavaScript user may write it. */
function define(definition: Record<string, unknown>, name: unknown = 'Broken') {
  return () =>
    defineModel(name as string, definition as unknown as ModelDefinition<Record<string, z.ZodType>>)
}

const fields = {
  name: z.string(),
  tags: z.array(z.string()),
  address: z.object({ city: z.string() }),
}

describe('design, Model: definitions that make no sense are refused with the option and the field', () => {
  test.each(['unique', 'indexes', 'hidden'])(
    "design, Model: '%s' names only fields of the model",
    (option) => {
      expect(define({ fields, [option]: ['nmae'] })).toThrow(
        new TypeError(
          `Model 'Broken': '${option}' lists 'nmae', but Broken has no such field. Did you mean 'name'?`,
        ),
      )
      expect(define({ fields, [option]: ['createdAt'] })).toThrow(
        `'${option}' lists 'createdAt', but Broken has no such field.`,
      )
      expect(define({ fields, timestamps: true, [option]: ['createdAt'] })).not.toThrow()
    },
  )

  test('design, Model: what is unique or indexed is one value, no list or object', () => {
    expect(define({ fields, unique: ['tags'] })).toThrow(
      "'unique' names 'tags', which is a list or an object",
    )
    expect(define({ fields, indexes: [['name', '-address']] })).toThrow(
      "'indexes' names 'address', which is a list",
    )
    expect(define({ fields, unique: ['address.city', ['name', 'address.city']] })).not.toThrow()
  })

  test.each(['unique', 'indexes'])(
    "design, Model: '%s' has no empty set, nor one with a field twice",
    (option) => {
      for (const set of [[], ['name', 'name']])
        expect(define({ fields, [option]: [set] })).toThrow(
          new TypeError(
            `Model 'Broken': '${option}' must be a list of field names, or of lists of them, which name each once`,
          ),
        )
    },
  )

  test("design, Model: 'timestamps' may have other names, which no field has", () => {
    for (const timestamps of [
      'yes',
      1,
      { made: 'a' },
      { createdAt: '' },
      { createdAt: 5 },
      { updatedAt: null },
    ]) {
      expect(define({ fields, timestamps })).toThrow(
        "'timestamps' must be true or false, or an object of names",
      )
    }
    for (const name of ['_id', '$x', 'a.b', 'toString', 'a"b']) {
      expect(define({ fields, timestamps: { createdAt: name } }), name).toThrow("'timestamps'")
    }
    expect(define({ fields, timestamps: { updatedAt: 'name' } })).toThrow(
      "'timestamps' names 'name', which is a field",
    )
    const named = define({ fields, timestamps: { createdAt: 'made', updatedAt: false } })()
    expect(named.timestamps).toEqual({ createdAt: 'made' })
    expect([...named.shape.fields.keys()]).toEqual(['_id', 'name', 'tags', 'address', 'made'])
    expect(define({ fields, timestamps: {} })().timestamps).toEqual({
      createdAt: 'createdAt',
      updatedAt: 'updatedAt',
    })
    expect(define({ fields, timestamps: false })().timestamps).toEqual({})
  })

  test('design, Model: what is named twice in unique or indexes is there once', async () => {
    const sets = { unique: ['name', ['name'], 'address.city'], indexes: ['-name', '-name', 'name'] }
    const model = define({ fields, ...sets }, 'ModelTwice')()
    expect(model.unique).toEqual([['name'], ['address.city']])
    expect(model.indexes).toHaveLength(2)
    const { app } = service()
    app.store.collection(model)
    await app.ready()
  })

  test('design, Model: an unknown option, a missing name and missing fields are refused', () => {
    expect(define({ fields, uniqe: [] })).toThrow(
      new TypeError("Model 'Broken': unknown option 'uniqe'. Did you mean 'unique'?"),
    )
    expect(define({ fields }, '')).toThrow('a model needs a name')
    expect(define({ fields }, 5)).toThrow('a model needs a name')
    for (const wrong of [undefined, null, 'name', 5, { name: 'string' }, z.string()]) {
      expect(define({ fields: wrong })).toThrow(
        "Model 'Broken': 'fields' must be an object of zod schemas",
      )
    }
  })

  test.each(['_id', '__v', 'createdAt', 'updatedAt', 'constructor', 'prototype', '$where', 'a.b'])(
    "2.1 never-writable: a model may not declare '%s'",
    (name) => {
      expect(define({ fields: { [name]: z.string() } })).toThrow(
        `Model 'Broken': 'fields' must not contain '${name}', which the server sets`,
      )
    },
  )

  test.each(['toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf'])(
    "design, Model: a model may not declare '%s', which every object has",
    (name) => {
      expect(define({ fields: { [name]: z.string() } })).toThrow(
        new TypeError(
          `Model 'Broken': a field cannot be named '${name}': every object has a member of this name`,
        ),
      )
    },
  )

  test("design, Model: a model may not declare '_bsontype', which one of the stores cannot hold", () => {
    expect(define({ fields: { _bsontype: z.string() } })).toThrow(
      "Model 'Broken': a field cannot be named '_bsontype': MongoDB's driver reserves it",
    )
    expect(define({ fields: { in: z.object({ _bsontype: z.string() }) } })).not.toThrow()
  })

  test.each(['bigint', 'symbol', 'map', 'set', 'file', 'nan', 'never'] as const)(
    'design, Model: a field of the type %s is refused, since JSON cannot carry it',
    (type) => {
      const schema = { map: () => z.map(z.string(), z.string()), set: () => z.set(z.string()) }
      const make =
        type in schema
          ? schema[type as 'map' | 'set']
          : (z as unknown as Record<string, () => z.ZodType>)[type]
      expect(define({ fields: { value: make?.() } })).toThrow(
        "Model 'Broken': field 'value': a record cannot hold the type",
      )
    },
  )

  test('design, ref: it takes the name of a model', () => {
    expect(() => ref('')).toThrow("ref() takes the name of a model, as in ref('Country')")
    expect(() => ref(undefined as unknown as string)).toThrow(TypeError)
  })

  test('whose names no database can keep: halves of surrogate pairs', () => {
    const fields = { name: z.string() }
    expect(() => defineModel('Half', { fields: { 'a\ud800': z.string() } })).toThrow(TypeError)
    expect(() => defineModel('Half', { fields, collection: 'a\udc00' })).toThrow(TypeError)
    expect(() => defineModel('Half', { fields, table: 'a\udc00' })).toThrow(TypeError)
  })

  test('that adopts a table of its own: fieldgate_models', () => {
    const fields = { name: z.string() }
    expect(() => defineModel('Taken', { fields, table: 'fieldgate_models' })).toThrow(`'table'`)
  })

  test.each(['fieldgate_models', 'Fieldgate_x', 'sqlite_master', 'SQLITE_x', '_cf_KV', '_cf_'])(
    'whose collection is one that a database keeps for itself: %s',
    (collection) => {
      const fields = { name: z.string() }
      expect(() => defineModel('Reserved', { fields, collection })).toThrow(TypeError)
      expect(() => defineModel(collection, { fields })).toThrow(TypeError)
      expect(() => defineModel('Free', { fields, collection: `x_${collection}` })).not.toThrow()
    },
  )

  test('whose collection differs from another one in case alone', () => {
    const fields = { name: z.string() }
    const Memo = defineModel('CaseMemo', { fields, collection: 'notes' })
    const Note = defineModel('CaseNote', { fields, collection: 'Notes' })
    const { app } = service()
    const mount = (path: string, model: Model) =>
      app.mount(path, createRouter({ model, middlewares: [], allowedFields: [] } as never))
    mount('/memos', Memo as unknown as Model)
    expect(() => mount('/notes', Note as unknown as Model)).toThrow(
      new TypeError(
        "Model 'CaseNote': its collection 'Notes' and 'notes' of the model 'CaseMemo' differ only in case, which not every store tells apart. Give one of them another 'collection'",
      ),
    )
  })

  test('design, App: two models of one app may not share a name or a collection', () => {
    const { app } = service()
    const first = defineModel('Twin', { fields: { name: z.string() } })
    const second = defineModel('Twin', { fields: { title: z.string() } })
    const third = defineModel('Other', { fields: { title: z.string() }, collection: 'twins' })
    app.mount('/first', createRouter({ model: first, allowedFields: ['name'] }))
    expect(() => app.store.collection(second)).toThrow(
      "Model 'Twin': the app already has another model with this name. Use one everywhere, also in several routers with a scope, or give one of them another name",
    )
    expect(() => app.mount('/third', createRouter({ model: third }))).toThrow(
      "Model 'Other': its collection 'twins' is that of the model 'Twin'. Use one model, in several routers with a scope, or give one of them another 'collection'",
    )
  })
})

describe('2.1 Record: what a model declares shows in its records', () => {
  test.each([
    ['City', 'cities'],
    ['Day', 'days'],
    ['Address', 'addresses'],
    ['Box', 'boxes'],
    ['Person', 'people'],
    ['Status', 'status'],
    ['V2', 'v2'],
  ])("design, Model: the collection of '%s' is '%s' by default", (name, collection) => {
    expect(defineModel(name, { fields: { name: z.string() } }).collection).toBe(collection)
  })

  test('2.1 _id: 24 hexadecimal digits by default', async () => {
    const { app, send } = service()
    const Plain = defineModel('PlainId', { fields: { name: z.string() } })
    app.mount('/plain', createRouter({ model: Plain, allowedFields: ['name'] }))
    const { record } = await send('POST', '/plain', { json: { name: 'a' } })
    expect(record._id).toMatch(/^[0-9a-f]{24}$/)
    expect(Object.keys(record)).toEqual(['_id', 'name'])
  })

  test('2.1 _id: a UUID where the model says so, read in either case', async () => {
    const { app, send } = service()
    const Named = defineModel('UuidId', { fields: { name: z.string() }, id: 'uuid' })
    app.mount('/named', createRouter({ model: Named, allowedFields: ['name'] }))
    const { record } = await send('POST', '/named', { json: { name: 'a' } })
    const id = String(record._id)
    expect(id).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/)
    expect((await send('GET', `/named/${id.toUpperCase()}`)).record).toEqual(record)
    expect((await send('GET', `/named/${'a'.repeat(24)}`)).status).toBe(400)
  })

  test('2.1 createdAt and updatedAt: there only when the model has timestamps', async () => {
    const { app, send } = service()
    const Stamped = defineModel('Stamped', { fields: { name: z.string() }, timestamps: true })
    app.mount('/stamped', createRouter({ model: Stamped, allowedFields: ['name'] }))
    const { record } = await send('POST', '/stamped', { json: { name: 'a' } })
    expect(Object.keys(record)).toEqual(['_id', 'name', 'createdAt', 'updatedAt'])
  })

  test('design, Model: hidden fields stand in no answer, output is the last transform, lean skips it', async () => {
    const { app, send } = service()
    const Person = defineModel('ShownPerson', {
      fields: {
        name: z.string(),
        notes: z.string().optional(),
        address: z.object({ city: z.string(), code: z.string() }),
      },
      hidden: ['notes', 'address.code'],
      output: (record) => ({
        ...record,
        shout: record.name.toUpperCase(),
        sawNotes: 'notes' in record,
      }),
    })
    app.mount(
      '/people',
      createRouter({ model: Person, allowedFields: ['name', 'notes', 'address'] }),
    )
    app.mount(
      '/lean',
      createRouter({ model: Person, allowedFields: ['name', 'notes', 'address'], lean: true }),
    )
    const json = { name: 'ann', notes: 'private', address: { city: 'Oslo', code: '1234' } }
    const shown = { name: 'ann', address: { city: 'Oslo' }, shout: 'ANN', sawNotes: false }
    const created = await send('POST', '/people', { json })
    const id = String(created.record._id)
    const expected: Fields = { _id: id, ...shown }
    expect(created.record).toEqual(expected)
    expect((await send('GET', `/people/${id}`)).record).toEqual(expected)
    expect((await send('GET', '/people')).records).toEqual([expected])
    expect((await send('QUERY', '/people', { json: {} })).records).toEqual([expected])
    expect(
      (await send('PATCH', `/people/${id}`, { json: { notes: 'still private' } })).record,
    ).toEqual(expected)
    const lean = { _id: id, name: 'ann', address: { city: 'Oslo' } }
    expect((await send('GET', `/lean/${id}`)).record).toEqual(lean)
    expect((await send('PATCH', `/lean/${id}`, { json: { name: 'ann' } })).record).toEqual(lean)
    expect((await send('POST', '/lean', { json })).record).not.toHaveProperty('shout')
  })
})

describe('defineModel and schemas that hold more than data', () => {
  test('design, defineModel: calls no function of the deployer: Workers allow none at the top of a module', () => {
    let calls = 0
    const made = () => {
      calls += 1
      return 'a'
    }
    defineModel('ModelDefaults', {
      fields: {
        a: z.string().default(made),
        b: z.string().prefault(made),
        c: z.string().catch(made),
        d: z.lazy(() => z.string().default(made)),
      },
    })
    expect(calls).toBe(0)
  })

  test('design, defineModel: takes schemas that refer to themselves in many places, or are made anew at each', async () => {
    const operators = ['add', 'divide', 'multiply'] as const
    type Node = number | { readonly op: string; readonly left: Node; readonly right: Node }
    const node: z.ZodType<Node> = z.lazy(() =>
      z.union([
        z.number(),
        ...operators.map((op) => z.object({ op: z.literal(op), left: node, right: node })),
      ]),
    )
    const tree = (leaf: z.ZodType): z.ZodType =>
      z.object({
        leaf,
        get children() {
          return z.array(tree(leaf)).optional()
        },
      })
    const Recursive = defineModel('ModelRecursive', {
      fields: { node, tree: tree(z.string().refine(async () => true)) },
    })
    const { app } = service()
    const values = {
      node: { op: 'add', left: 1, right: { op: 'divide', left: 1, right: 2 } },
      tree: { leaf: 'a', children: [{ leaf: 'b' }] },
    }
    expect(await app.store.collection(Recursive).insert(values)).toMatchObject(values)
  })
})
