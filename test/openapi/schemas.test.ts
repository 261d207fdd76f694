import { expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Model } from '../../src/index.ts'
import { document } from '../../src/openapi/index.ts'
import { service } from '../records/service.ts'

/** Schemas of a field, by what makes them peculiar. */
const FIELDS: Readonly<Record<string, z.ZodType>> = {
  string: z.string(),
  nullable: z.string().nullable(),
  optional: z.string().optional(),
  default: z.string().default('a'),
  prefault: z.string().prefault('a'),
  caught: z.number().catch(5),
  caughtAnew: z.number().catch(() => 5),
  caughtFrozen: z.number().catch(5).readonly(),
  caughtLazily: z.lazy(() => z.number().catch(5)),
  caughtNull: z.number().nullable().catch(null),
  caughtMaybe: z.number().catch(5).optional(),
  caughtAfter: z.preprocess((value) => value, z.number().catch(5)),
  caughtAtTheEnd: z.string().pipe(z.string().catch('x')),
  caughtAtFirst: z.string().catch('5').transform(Number).pipe(z.number()),
  frozen: z.string().readonly(),
  frozenList: z.array(z.string().readonly()).readonly(),
  frozenMaybe: z.string().readonly().optional(),
  frozenDefault: z.string().default('a').readonly(),
  frozenCaught: z.object({ in: z.number().readonly().catch(1) }).readonly(),
  cast: z.codec(z.string(), z.number(), { decode: Number, encode: String }),
  cut: z.string().transform((text) => text.length),
  firm: z.nonoptional(z.string().optional()),
  unknown: z.unknown(),
}

/** A JSON Schema, so far as the tests look into it. */
interface Json {
  readonly type?: string
  readonly format?: string
  readonly readOnly?: boolean
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties: Readonly<Record<string, Json>>
  readonly anyOf: readonly Json[]
  readonly oneOf?: readonly Json[]
}

function made(schema: z.ZodType) {
  const Held = defineModel('SchemaHeld', {
    fields: { name: z.string(), field: schema, in: z.object({ field: schema }).optional() },
  }) as unknown as Model
  const { app, send } = service()
  const options = { middlewares: [], allowedFields: ['name', 'field', 'in'] }
  app.mount('/held', createRouter({ model: Held, ...options } as never))
  const { components } = document(app, { title: 'Test', version: '1.0' })
  return { send, schemas: components.schemas as unknown as Readonly<Record<string, Json>> }
}

it.each(Object.keys(FIELDS))(
  'says that %s is required if a POST without it is refused',
  async (name) => {
    const { send, schemas } = made(FIELDS[name] as z.ZodType)
    const { SchemaHeldCreate: create, SchemaHeldUpdate: update } = schemas
    const isRequired = create?.required?.includes('field')
    const inside = create?.properties.in?.anyOf[0]?.required ?? []
    const { status, body } = await send('POST', '/held', { json: { name: 'a', in: {} } })
    expect(status).toBe(isRequired ? 400 : 201)
    expect(Object.keys(body.fields ?? {})).toEqual(isRequired ? ['field', 'in.field'] : [])
    expect(inside).toEqual(isRequired ? ['field'] : [])
    expect(update?.required).toBeUndefined()
  },
)

it.each(Object.keys(FIELDS))('says of %s that clients may write it', async (name) => {
  const { schemas } = made(FIELDS[name] as z.ZodType)
  expect(JSON.stringify(schemas)).not.toContain('readOnly')
})

it('keeps readOnly where you wrote it', () => {
  const { schemas } = made(z.string().readonly().meta({ readOnly: true }))
  expect(schemas.SchemaHeld?.properties.field?.readOnly).toBe(true)
})

it('gives constants that are true or false no type: generated Python took it for a text', () => {
  const { schemas } = made(z.literal(true))
  const envelopes = [schemas.Failure, schemas.Message, schemas.SchemaHeldResponse]
  expect(envelopes.map((one) => one?.properties.success)).toEqual([
    { const: false },
    { const: true },
    { const: true },
  ])
  expect(schemas.SchemaHeldCreate?.properties.field).toEqual({ const: true })
  expect(schemas.SchemaHeldUpdate?.properties.field).toEqual({ const: true })
  expect(schemas.SchemaHeld?.properties.field).toEqual({ const: true })
})

it('says that a record has what it was given for an absent value', () => {
  const { schemas } = made(z.number().catch(5).readonly())
  expect(schemas.SchemaHeld?.required).toContain('field')
  expect(schemas.SchemaHeldCreate?.properties.field?.default).toBe(5)
})

it('offers dates in a union unless strings stay strings there', () => {
  const optionsOf = (schema: z.ZodType) =>
    optionsIn(
      made(z.object({ one: schema })).schemas.SchemaHeldCreate?.properties.field?.properties.one,
    )
  const optionsIn = (json?: Json): readonly unknown[] | undefined =>
    (json?.anyOf ?? json?.oneOf ?? [json]).flatMap((one) => one?.format ?? one?.type)
  expect(optionsOf(z.union([z.date(), z.number()]))).toEqual(['date-time', 'number'])
  expect(optionsOf(z.union([z.date(), z.literal('never')]))).toEqual(['date-time', 'string'])
  expect(optionsOf(z.union([z.date(), z.email()]))).toEqual(['email'])
  expect(optionsOf(z.union([z.number(), z.date(), z.string().min(1)]))).toEqual([
    'number',
    'string',
  ])
  expect(optionsOf(z.union([z.date().nullable(), z.string()]))).toEqual(['null', 'string'])
  expect(optionsOf(z.union([z.date().transform(Number), z.string()]))).toEqual(['string'])
  expect(optionsOf(z.xor([z.date(), z.string()]))).toEqual(['string'])
  expect(optionsOf(z.xor([z.date(), z.number()]))).toEqual(['date-time', 'number'])
})

it('describes what has both of two types as one object', () => {
  const createOf = (schema: z.ZodType) => made(schema).schemas.SchemaHeldCreate?.properties.field
  const a = z.strictObject({ a: z.string() })
  const b = z.strictObject({ b: z.number().optional() })
  const both = {
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    },
    required: ['a'],
    additionalProperties: false,
  }
  expect(createOf(a.and(b))).toEqual(both)
  expect(createOf(z.lazy(() => a.and(b)))).toEqual(both)
  expect(createOf(a.and(z.union([b, z.strictObject({ c: z.string() })])))).toMatchObject({
    anyOf: [both, { properties: { a: { type: 'string' }, c: { type: 'string' } } }],
  })
})

it('keeps every name of a member', () => {
  const { SchemaHeldCreate } = made(
    z.object({ 'x-clears': z.string(), toJSON: z.string().optional() }),
  ).schemas
  expect(SchemaHeldCreate?.properties.field).toEqual({
    type: 'object',
    properties: {
      'x-clears': { type: 'string' },
      toJSON: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['x-clears'],
  })
})

it('says which words stand for true and false', async () => {
  const anyCase = made(z.stringbool())
  const said = anyCase.schemas.SchemaHeldCreate?.properties.field
  expect(said).toEqual({ type: 'string', description: expect.stringContaining('true, 1, yes') })
  expect((await anyCase.send('POST', '/held', { json: { name: 'a', field: 'YES' } })).status).toBe(
    201,
  )
  const exact = made(z.stringbool({ truthy: ['ja'], falsy: ['nein'], case: 'sensitive' }))
  expect(exact.schemas.SchemaHeldCreate?.properties.field).toEqual({
    type: 'string',
    enum: ['ja', 'nein'],
  })
})

it('says that null leaves a field out, unless a transform is given the null', async () => {
  const { schemas, send } = made(z.preprocess((value) => value, z.string().optional()))
  const { SchemaHeldCreate: create, SchemaHeldUpdate: update } = schemas
  const text = { type: 'string' }
  expect([create?.properties.field, update?.properties.field]).toEqual([text, text])
  expect((await send('POST', '/held', { json: { name: 'a', field: null } })).status).toBe(400)
  const { properties } = made(z.string().optional()).schemas.SchemaHeldCreate as Json
  expect(properties.field).toEqual({ anyOf: [text, { type: 'null' }] })
})

it('gives no pattern whose flags it cannot say: it would refuse what the route takes', async () => {
  const code = z.string().regex(/^[a-z]+$/i)
  const { schemas, send } = made(code.regex(/a/))
  const { SchemaHeld: record, SchemaHeldCreate: create } = schemas
  for (const { properties } of [record as Json, create as Json]) {
    expect(properties.field).toEqual({ type: 'string', allOf: [{ pattern: 'a' }] })
  }
  expect((await send('POST', '/held', { json: { name: 'a', field: 'aZ' } })).status).toBe(201)
  expect(made(code).schemas.SchemaHeld?.properties.field).toEqual({ type: 'string' })
  expect(made(z.record(code, z.int())).schemas.SchemaHeld?.properties.field).toMatchObject({
    propertyNames: { type: 'string' },
  })
})

it('gives no pattern that only flags, or no flags, make one', async () => {
  for (const pattern of [/^[\w--[a]]+$/v, /^x]$/]) {
    const { properties } = made(z.string().regex(pattern)).schemas.SchemaHeldCreate as Json
    expect(properties.field).toEqual({ type: 'string' })
  }
})

it('keeps the format of a string that has checks beside it, and takes no check for a format', () => {
  const fieldOf = (schema: z.ZodType) => made(schema).schemas.SchemaHeldCreate?.properties.field
  const formatOf = (schema: z.ZodType) => (fieldOf(schema) as { readonly format?: string }).format
  expect(formatOf(z.email().endsWith('@example.com'))).toBe('email')
  expect(formatOf(z.email().regex(/a/).lowercase())).toBe('email')
  expect(formatOf(z.url().startsWith('https://'))).toBe('uri')
  expect(formatOf(z.iso.time().includes('0'))).toBe(undefined)
  expect(fieldOf(z.string().includes('a.b'))).toEqual({ type: 'string', pattern: 'a\\.b' })
  expect(formatOf(z.string().uppercase())).toBe(undefined)
})

it('says of a record alone that it has an id, if its schema refers to itself or has an id in zod', () => {
  const Node: z.ZodType = z.object({
    name: z.string(),
    secret: z.string(),
    get kids() {
      return z.array(Node).optional()
    },
  })
  const Named = z.object({ name: z.string(), secret: z.string() }).meta({ id: 'SchemaNamed' })
  const { app } = service()
  for (const [name, fields] of Object.entries({ SchemaNode: Node, SchemaNamed: Named })) {
    const model = defineModel(name, { fields: fields as typeof Named, hidden: ['secret'] })
    app.mount(`/${name}`, createRouter({ model, middlewares: [], allowedFields: ['name'] }))
  }
  const { components } = document(app, { title: 'Test', version: '1.0' })
  const schemas = components.schemas as unknown as Readonly<Record<string, Json>>
  const closed = { type: 'object', additionalProperties: false }
  const name = { type: 'string' }
  const _id = { type: 'string', pattern: '^[0-9a-fA-F]{24}$' }
  const record = { ...closed, properties: { _id, name }, required: ['_id', 'name'] }
  expect(schemas.SchemaNamed).toEqual(record)
  const kids = { type: 'array', items: { $ref: '#/components/schemas/SchemaNode__schema0' } }
  expect(schemas.SchemaNode).toEqual({ ...record, properties: { _id, name, kids } })
  // Inside, nothing is hidden.
  expect(schemas.SchemaNode__schema0).toEqual({
    ...closed,
    properties: { name, secret: name, kids },
    required: ['name', 'secret'],
  })
})

it('gives components and operations names that OpenAPI takes, whatever models and schemas are called', () => {
  const Address = z.object({ street: z.string(), door: z.int() }).meta({ id: 'app/postal address' })
  const Street = defineModel('Große Straße', {
    fields: { name: z.string(), at: Address, old: z.array(Address) },
    hidden: ['at.door'],
  })
  const { app } = service()
  app.mount('/streets', createRouter({ model: Street, middlewares: [], allowedFields: ['at'] }))
  const { components, paths } = document(app, { title: 'Test', version: '1.0' })
  const names = Object.keys(components.schemas)
  expect(names).toContain('Gro_e_Stra_e')
  const refs = [
    ...JSON.stringify([paths, components]).matchAll(/"#\/components\/schemas\/([^"]*)"/g),
  ]
  expect(names).toEqual(expect.arrayContaining(refs.map(([, name]) => name)))
  expect(components.schemas.Gro_e_Stra_e).toMatchObject({
    properties: {
      at: { properties: { street: { type: 'string' } }, required: ['street'] },
      old: { items: { $ref: '#/components/schemas/Gro_e_Stra_eapp_1postal_address' } },
    },
  })
  const ids = Object.values(paths).flatMap((item) =>
    Object.values(item).map((one) => one.operationId),
  )
  expect(ids).toContain('readGro_e_Stra_e')
  expect(JSON.stringify(components.schemas.Gro_e_Stra_e)).not.toContain('door')
  for (const name of [...names, ...ids]) expect(name).toMatch(/^[\w.-]+$/)
})

it('hides a member at its own place alone, where a schema stands in several', async () => {
  const Address = z.object({ city: z.string(), door: z.int() }).meta({ id: 'SchemaAddress' })
  const Branch = z.object({
    name: z.string(),
    note: z.string(),
    get next() {
      return Branch.optional()
    },
  })
  const Held = defineModel('SchemaPlaces', {
    fields: { home: Address, work: z.array(Address), tree: Branch },
    hidden: ['home.door', 'tree.next.note'],
  })
  const { app, send } = service()
  const allowedFields = ['home', 'work', 'tree'] as const
  app.mount('/held', createRouter({ model: Held, middlewares: [], allowedFields }))
  const at = { city: 'Delft', door: 1 }
  const end = { name: 'c', note: 'shown' }
  const tree = { name: 'a', note: 'shown', next: { name: 'b', note: 'hidden', next: end } }
  const { record } = await send('POST', '/held', { json: { home: at, work: [at], tree } })
  expect(record).toMatchObject({ home: { city: 'Delft' }, work: [at] })
  expect(record.tree).toEqual({ ...tree, next: { name: 'b', next: end } })
  const { components } = document(app, { title: 'Test', version: '1.0' })
  const schemas = components.schemas as unknown as Readonly<Record<string, Json>>
  const resolved = (json?: Json): Json | undefined => {
    const { $ref } = (json ?? {}) as { $ref?: string }
    return $ref ? schemas[$ref.replace('#/components/schemas/', '')] : json
  }
  const namesOf = (json?: Json) => Object.keys(resolved(json)?.properties ?? {})
  for (const of of ['SchemaPlaces', 'SchemaPlacesUpdate']) {
    const { home, work, tree } = schemas[of]?.properties ?? {}
    expect(namesOf(home)).toEqual(['city'])
    expect(namesOf((work as { items?: Json } | undefined)?.items)).toEqual(['city', 'door'])
    expect(namesOf(tree)).toEqual(['name', 'note', 'next'])
    const { next } = resolved(tree)?.properties ?? {}
    const inner = resolved(next)?.anyOf?.[0] ?? next
    expect(namesOf(inner)).toEqual(['name', 'next'])
  }
})

it('says what groups may be asked for, and what they hold', () => {
  const Sale = defineModel('SchemaSale', {
    fields: { shop: z.string(), pieces: z.int(), weight: z.number(), at: z.date() },
  })
  const aggregates = { by: ['shop', 'pieces', 'at:month'], of: ['pieces', 'weight', 'at'] } as const
  const { app } = service()
  const router = { model: Sale, middlewares: [], orderBy: 'at', aggregates } as const
  app.mount('/sales', createRouter(router))
  app.mount('/dates', createRouter({ ...router, aggregates: { of: ['at'] } }))
  app.mount('/plain', createRouter({ model: Sale, middlewares: [] }))
  const { components, paths } = document(app, { title: 'Test', version: '1.0' })
  const schemas = components.schemas as unknown as Readonly<Record<string, Json>>
  const { aggregate, by, sort } = schemas.SchemaSaleQuery?.properties ?? {}
  const listOf = (...names: string[]) => ({ type: 'array', items: { type: 'string', enum: names } })
  const parts = { type: 'object', additionalProperties: false }
  expect(aggregate).toMatchObject({ ...parts, minProperties: 1 })
  const [all, numbers] = [listOf('pieces', 'weight', 'at'), listOf('pieces', 'weight')]
  expect(aggregate?.properties).toEqual({
    ...{ count: { type: 'boolean' }, sum: numbers, avg: numbers, min: all, max: all },
  })
  expect(by).toMatchObject({ ...listOf('shop', 'pieces', 'at:month'), maxItems: 3 })
  const sorts = ['sum.weight', 'min.at', '-max.at', 'count', 'at:month']
  expect(JSON.stringify(sort)).toContain('"count","-count"')
  for (const key of sorts) expect(JSON.stringify(sort)).toContain(`"${key}"`)
  for (const key of ['sum.at', 'avg.at']) expect(JSON.stringify(sort)).not.toContain(key)
  const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] })
  const [integer, number, date] = [
    ...[{ type: 'integer' }, { type: 'number' }].map(orNull),
    orNull({ type: 'string', format: 'date-time' }),
  ]
  const text = orNull({ type: 'string' })
  const least = { ...parts, properties: { pieces: integer, weight: number, at: date } }
  const whole = { ...parts, properties: { pieces: number, weight: number } }
  const { data, pagination } = schemas.SchemaSaleGroups?.properties ?? {}
  expect((data as { items?: Json }).items).toEqual({
    ...parts,
    properties: {
      ...{ shop: text, pieces: integer, 'at:month': text, count: { type: 'integer', minimum: 0 } },
      ...{ sum: whole, avg: whole, min: least, max: least },
    },
  })
  expect(pagination).toMatchObject({ ...parts, required: ['hasMore'] })
  const dates = schemas.SchemaSaleQueryAtDates?.properties ?? {}
  expect(Object.keys(dates.aggregate?.properties ?? {})).toEqual(['count', 'min', 'max'])
  expect(dates).not.toHaveProperty('by')
  const groups = schemas.SchemaSaleGroupsAtDates?.properties?.data as { items?: Json } | undefined
  expect(Object.keys(groups?.items?.properties ?? {})).toEqual(['count', 'min', 'max'])
  const refused = (path: string) => JSON.stringify(paths[path]?.query?.responses['400'])
  expect(refused('/sales')).toContain('is a date')
  expect(refused('/plain')).not.toContain('is a date')
})
