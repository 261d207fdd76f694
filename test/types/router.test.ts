import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import {
  type App,
  type AuthRouter,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Guard,
  type Managed,
  type Model,
  type RouterOptions,
  ref,
  type ScopeOption,
  userFields,
} from '../../src/index.ts'

const City = defineModel('TypedRouterCity', {
  fields: {
    name: z.string(),
    country: ref('TypedRouterCountry'),
    population: z.number().optional(),
    address: z.object({ street: z.string() }).optional(),
    notes: z.string().optional(),
  },
  timestamps: true,
  hidden: ['notes'],
})

describe('design, Model: types flow through createRouter', () => {
  test('2.6 types: every list takes the fields of the model, dotted ones and timestamps too', () => {
    createRouter({
      model: City,
      orderBy: ['-population', 'name'],
      query: ['country', 'address.street'],
      search: ['name', 'country.name'],
      filterableFields: ['population', 'createdAt', '_id'],
      sortableFields: ['name', 'address.street'],
      allowedFields: { create: ['name', 'country'], update: ['name'] },
      blockedFields: ['notes'],
    })
  })

  test('2.6 types: a misspelt field in any list is a compile error', () => {
    // @ts-expect-error 'contry' is no field
    createRouter({ model: City, query: ['contry'] })
    // @ts-expect-error 'nmae' is no field
    createRouter({ model: City, search: ['nmae'] })
    // @ts-expect-error 'populaton' is no field
    createRouter({ model: City, filterableFields: ['populaton'] })
    // @ts-expect-error 'populaton' is no field
    createRouter({ model: City, sortableFields: ['populaton'] })
    // @ts-expect-error 'populaton' is no field
    createRouter({ model: City, orderBy: '-populaton' })
    // @ts-expect-error 'populaton' is no field
    createRouter({ model: City, orderBy: ['name', 'populaton'] })
    // @ts-expect-error 'nmae' is no field
    createRouter({ model: City, allowedFields: ['nmae'] })
    // @ts-expect-error 'nmae' is no field
    createRouter({ model: City, allowedFields: { create: ['nmae'] } })
    // @ts-expect-error 'nmae' is no field
    createRouter({ model: City, blockedFields: ['nmae'] })
    // @ts-expect-error 'nmae' is no field
    createRouter({ model: City, blockedFields: { update: ['nmae'] } })
  })

  test('2.6 types: an unknown option, and a value of another type, are compile errors', () => {
    // @ts-expect-error 'qurey' is no option
    createRouter({ model: City, qurey: ['name'] })
    // @ts-expect-error a number is wanted
    createRouter({ model: City, maxLimit: '10' })
    // @ts-expect-error no such mode
    createRouter({ model: City, pagination: 'pages' })
    // @ts-expect-error no such strategy
    createRouter({ model: City, countStrategy: 'guess' })
    // @ts-expect-error the model is needed
    createRouter({ query: ['name'] })
  })

  test('2.6 types: a scope compares fields of the model with values of their types', () => {
    const Task = defineModel('TypedRouterTask', {
      fields: {
        owner: ref('TypedRouterUser'),
        state: z.enum(['open', 'done']),
        size: z.number().optional(),
        gone: z.date().nullish(),
        members: z.array(z.string()),
        any: z.unknown(),
        place: z.object({ city: z.string() }).optional(),
      },
      hidden: ['size'],
    })
    createRouter({ model: Task, scope: ({ auth }) => ({ owner: auth?.userId }) })
    createRouter({ model: Task, scope: async () => ({ state: 'open', size: 5, _id: 'x' }) })
    createRouter({ model: Task, scope: () => ({ gone: null, size: null, members: 'ann' }) })
    createRouter({ model: Task, scope: () => ({ gone: new Date(), any: true }) })
    createRouter({ model: Task, scope: ({ auth }) => (auth ? { owner: 'x' } : undefined) })
    createRouter({ model: Task, scope: () => {} })
    type Stored = typeof Task extends Model<infer R> ? R : never
    const apart: RouterOptions<Stored> = { model: Task, scope: () => undefined }
    createRouter(apart)
    const scope: ScopeOption<Stored> = () => ({ owner: 'x' })
    createRouter({ model: Task, scope })
    // @ts-expect-error 'ownr' is no field
    createRouter({ model: Task, scope: () => ({ ownr: 'x' }) })
    // @ts-expect-error 'ownr' is no field, though 'state' is one
    createRouter({ model: Task, scope: () => ({ state: 'open', ownr: 'x' }) })
    // @ts-expect-error 'ownr' is no field
    createRouter({ model: Task, scope: async ({ auth }) => auth && { state: 'open', ownr: 'x' } })
    // @ts-expect-error a text is wanted
    createRouter({ model: Task, scope: () => ({ owner: 1 }) })
    // @ts-expect-error no such state
    createRouter({ model: Task, scope: () => ({ state: 'shut' }) })
    // @ts-expect-error every record has an owner
    createRouter({ model: Task, scope: () => ({ owner: null }) })
    // @ts-expect-error one value, no list of them
    createRouter({ model: Task, scope: () => ({ owner: ['x'] }) })
    // @ts-expect-error an object is no value
    createRouter({ model: Task, scope: () => ({ place: { city: 'Oslo' } }) })
    // @ts-expect-error only undefined is no limit
    createRouter({ model: Task, scope: () => null })
    createRouter({ model: Task, scope: () => ({ or: [{ owner: 'x' }, { state: 'open' }] }) })
    createRouter({
      model: Task,
      scope: async () => ({ or: ['x', 'y'].map((owner) => ({ owner })) }),
    })
    // @ts-expect-error 'ownr' is no field
    createRouter({ model: Task, scope: () => ({ or: [{ ownr: 'x' }] }) })
    // @ts-expect-error 'ownr' is no field, though the other member has one
    createRouter({ model: Task, scope: () => ({ or: [{ state: 'open' }, { ownr: 'x' }] }) })
    // @ts-expect-error 'ownr' is no field, though 'state' is one
    createRouter({ model: Task, scope: async () => ({ or: [{ state: 'open', ownr: 'x' }] }) })
    // @ts-expect-error a text is wanted
    createRouter({ model: Task, scope: () => ({ or: [{ owner: 1 }] }) })
    // @ts-expect-error a list is wanted
    createRouter({ model: Task, scope: () => ({ or: { owner: 'x' } }) })
    createRouter({
      model: Task,
      scope: {
        read: ({ auth }) => ({ or: [{ owner: auth?.userId }, { state: 'open' }] }),
        write: ({ auth }) => ({ owner: auth?.userId }),
      },
    })
    createRouter({ model: Task, scope: { read: () => undefined, write: () => ({ owner: 'x' }) } })
    // @ts-expect-error 'ownr' is no field
    createRouter({ model: Task, scope: { read: () => ({ ownr: 'x' }), write: () => undefined } })
    createRouter({
      model: Task,
      // @ts-expect-error 'ownr' is no field
      scope: { read: () => ({ state: 'open' }), write: () => ({ or: [{ ownr: 'x' }] }) },
    })
    // @ts-expect-error both are needed
    createRouter({ model: Task, scope: { read: () => ({ owner: 'x' }) } })
    // @ts-expect-error there is no third
    createRouter({ model: Task, scope: { read: () => {}, write: () => {}, list: () => {} } })
  })

  test('2.6 types: access names the six routes, each with guards or none', () => {
    const guard: Guard = () => {}
    createRouter({
      model: City,
      access: { list: true, create: guard, update: [guard], remove: false },
    })
    createRouter({
      model: City,
      access: { read: (request, context) => void [request.params, context.env] },
    })
    // @ts-expect-error there is no route 'delete'
    createRouter({ model: City, access: { delete: false } })
    // @ts-expect-error a guard is a function
    createRouter({ model: City, access: { remove: 'admin' } })
    // @ts-expect-error a guard that is missing must not open a route
    createRouter({ model: City, access: { remove: undefined } })
  })

  test('2.6 types: requireRole takes the roles of the list', () => {
    const User = defineModel('TypedRouterAccount', { fields: userFields(), unique: ['email'] })
    const token = { secret: 's'.repeat(32) }
    const roles = { list: ['user', 'editor', 'admin'], admin: 'admin' } as const
    const listed = createAuthRouter({ model: User, token, roles })
    listed.requireRole('editor', ['admin'])
    // @ts-expect-error 'amdin' is no role
    expect(() => listed.requireRole('amdin')).toThrow()
    const inline = createAuthRouter({ model: User, token, roles: { list: ['user', 'admin'] } })
    inline.requireRole('admin')
    // @ts-expect-error 'amdin' is no role
    expect(() => inline.requireRole('amdin')).toThrow()
    const names: string[] = ['user', 'boss']
    createAuthRouter({ model: User, token, roles: { list: names, admin: 'boss' } }).requireRole(
      'boss',
    )
    const { requireRole }: AuthRouter = createAuthRouter({ model: User, token })
    requireRole('admin')
  })

  test('2.6 types: hooks know the fields, and that nobody has checked what the client sent', () => {
    createRouter({
      model: City,
      validate(payload, { req, res, operation, id }) {
        expectTypeOf(payload.name).toEqualTypeOf<unknown>()
        // @ts-expect-error a client may send anything in the place of a string
        payload.name?.trim()
        // @ts-expect-error no field of the record
        void payload.nam
        expectTypeOf(operation).toEqualTypeOf<'create' | 'update'>()
        expectTypeOf(id).toEqualTypeOf<string | undefined>()
        expectTypeOf(req.params).toEqualTypeOf<Readonly<Record<string, string>>>()
        res.status = 202
        res.headers.set('X-Checked', 'yes')
        return typeof payload.name === 'string'
          ? { ...payload, name: payload.name.trim() }
          : payload
      },
      runAfterCreate(record, request) {
        expectTypeOf(record.name).toEqualTypeOf<string>()
        expectTypeOf(record._id).toEqualTypeOf<string>()
        expectTypeOf(request.requestId).toEqualTypeOf<string>()
      },
    })
    createRouter({
      model: City,
      // @ts-expect-error a hook returns fields of the record
      validate: () => ({ inhabitants: 3 }),
    })
    createRouter({
      model: City,
      beforeUpdate({ record, changes, request }) {
        expectTypeOf(record.name).toEqualTypeOf<string>()
        expectTypeOf(record._id).toEqualTypeOf<string>()
        expectTypeOf(changes.name).toEqualTypeOf<string | undefined>()
        expectTypeOf(request.requestId).toEqualTypeOf<string>()
        changes.name = record.name.trim()
        // @ts-expect-error a number in the place of a string
        changes.name = 5
        // @ts-expect-error no field of the record
        changes.nam = ''
      },
      afterUpdate({ before, record }) {
        expectTypeOf(before).toEqualTypeOf<typeof record>()
        expectTypeOf(record.name).toEqualTypeOf<string>()
      },
      beforeRemove: async ({ record }) => void expectTypeOf(record.name).toEqualTypeOf<string>(),
      afterRemove: ({ record }) => expectTypeOf(record._id).toEqualTypeOf<string>(),
    })
    createRouter({
      model: City,
      // @ts-expect-error a hook returns fields of the record
      beforeUpdate: () => ({ inhabitants: 3 }),
    })
    createRouter({
      model: City,
      fieldsFor: (request) => (request.auth ? undefined : ['name', '_id', 'createdAt']),
    })
    createRouter({
      model: City,
      // @ts-expect-error no field of the record
      fieldsFor: () => ['nam'],
    })
    createRouter({
      model: City,
      // @ts-expect-error a hook throws to refuse
      beforeRemove: () => false,
    })
    createRouter({
      model: City,
      validate: { create: async (payload) => payload, update: () => null },
    })
  })

  test('types: what a runtime hands to `handle` needs no annotations', () => {
    const work: Promise<unknown>[] = []
    const platform: Parameters<App['handle']>[2] = {
      waitUntil: (promise) => void work.push(promise),
    }
    expectTypeOf(platform.waitUntil).not.toBeAny()
  })

  test('2.6 types: options may be written apart from the call', () => {
    type City = { name: string; country: string }
    const options: Pick<RouterOptions<City>, 'query'> = { query: ['name'] }
    expectTypeOf(options.query).toExtend<readonly string[] | undefined>()
    expectTypeOf<Managed['_id']>().toEqualTypeOf<string>()
    expectTypeOf<Fields>().toEqualTypeOf<Record<string, unknown>>()
  })
})

test('your own normalizer of an identifier takes a string, without a type of its own', () => {
  const fields = userFields({
    identifiers: ['email', { field: 'nick', normalize: (text) => text.toLowerCase() }],
  })
  expectTypeOf(fields).toHaveProperty('nick')
  createAuthRouter({
    model: defineModel('TypedNormalizedUser', { fields, unique: ['email', 'nick'] }),
    token: { secret: 'a-secret-of-at-least-32-characters' },
    identifiers: ['email', { field: 'nick', normalize: (text) => text.toLowerCase() }],
  })
})
