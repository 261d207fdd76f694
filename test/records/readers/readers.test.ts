/**
 * `fieldsFor`: readers who see different fields of the same records.
 */

import { expect, test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import {
  type ApiRequest,
  createRouter,
  defineModel,
  type FieldsFor,
  HttpError,
  type RouterOptions,
  ref,
  type Values,
} from '../../../src/index.ts'
import { type Message, NOON, service } from '../service.ts'

const fields = {
  name: z.string(),
  salary: z.number().optional(),
  phone: z.string().default('none'),
  secret: z.string().optional(),
  boss: ref('ReaderPerson').optional(),
  place: z.object({ city: z.string(), code: z.string().optional() }).optional(),
}
const Person = defineModel('ReaderPerson', {
  fields,
  timestamps: true,
  hidden: ['secret', 'place.code'],
})
type Person = Values<typeof fields>
type Options = Partial<RouterOptions<Person>>

/** The fields that the header `x-fields` names; all without it. */
const asked: FieldsFor<Person> = (request) =>
  request.headers.get('x-fields')?.split(' ').filter(Boolean) as (keyof Person)[] | undefined

const LISTS = ['name', 'salary', 'phone'] as const

function people(options: Options = {}) {
  const served = service({ cache: memoryCache() })
  served.app.mount(
    '/people',
    createRouter({
      model: Person,
      middlewares: [],
      allowedFields: ['name', 'salary', 'phone', 'boss', 'place'],
      query: LISTS,
      search: ['name', 'phone', 'boss.phone'],
      fieldsFor: asked,
      ...options,
    }),
  )
  const seeing = (names: string, message: Message = {}): Message => ({
    ...message,
    headers: { 'x-fields': names, ...message.headers },
  })
  return { ...served, stored: served.app.store.collection(Person), seeing }
}

const place = { city: 'Ur', code: 'x' }

test('every route shows the named fields and _id, and undefined shows all that are not hidden', async () => {
  const { send, seeing } = people()
  const json = { name: 'Ann', salary: 5, place }
  const made = await send('POST', '/people', seeing('name place', { json }))
  const { _id } = made.record
  const shown = { _id, name: 'Ann', place: { city: 'Ur' } }
  expect([made.status, made.record]).toEqual([201, shown])
  const path = `/people/${_id}`
  expect((await send('GET', path, seeing('name place'))).record).toEqual(shown)
  expect((await send('GET', '/people', seeing('name place'))).records).toEqual([shown])
  const query = seeing('name place', { json: {} })
  expect((await send('QUERY', '/people', query)).records).toEqual([shown])
  const written = await send('PATCH', path, seeing('name', { json: { salary: 6 } }))
  expect([written.status, written.record]).toEqual([200, { _id, name: 'Ann' }])
  expect((await send('GET', path, seeing(''))).record).toEqual({ _id })
  const whole = { _id, name: 'Ann', salary: 6, phone: 'none', place: { city: 'Ur' } }
  expect((await send('GET', path)).record).toMatchObject(whole)
  const { record: times } = await send('GET', path, seeing('createdAt'))
  expect(times).toEqual({ _id, createdAt: new Date(NOON).toISOString() })
  expect((await send('DELETE', path, seeing('name'))).body.message).toBe(
    'Item successfully deleted.',
  )
})

test('a field that the request may not see counts as not listed', async () => {
  const { send, seeing, stored } = people()
  for (const salary of [3, 1, 2]) await stored.insert({ name: `n${salary}`, salary, phone: '7' })
  const names = async (search: string, which = 'name') =>
    (await send('GET', `/people${search}`, seeing(which))).body
  expect((await names('?salary=1')).data).toHaveLength(3)
  expect((await names('?salary=1', 'salary')).data).toHaveLength(1)
  for (const search of ['?rangeField=salary&range=1-2', '?compareField=salary&compareValue=1']) {
    expect((await names(search)).error).toBe("Field 'salary' is not filterable.")
    expect((await names(search, 'salary')).error).toBeUndefined()
  }
  expect((await names('?sort=-salary')).error).toBe("Field 'salary' is not sortable.")
  for (const json of [{ filter: { salary: 1 } }, { sort: 'salary' }]) {
    expect((await send('QUERY', '/people', seeing('name', { json }))).status).toBe(400)
    expect((await send('QUERY', '/people', seeing('salary', { json }))).status).toBe(200)
  }
  expect((await names('?s=7', 'phone')).data).toHaveLength(3)
  expect((await names('?s=7', 'name')).data).toHaveLength(0)
  expect((await names('?s=7', 'salary')).data).toHaveLength(3)
})

test('the default order leaves out what the request may not see', async () => {
  const { send, seeing, stored } = people({ orderBy: ['-salary', 'name'] })
  await stored.insert({ name: 'b', salary: 9 })
  await stored.insert({ name: 'a', salary: 1 })
  const names = async (which: string) =>
    (await send('GET', '/people', seeing(which))).records.map(({ name }) => name)
  expect(await names('name salary')).toEqual(['b', 'a'])
  expect(await names('name')).toEqual(['a', 'b'])
})

test('a cursor continues under other fields only in the same order, and tells no value', async () => {
  const { send, seeing, stored } = people({
    pagination: 'cursor',
    defaultPageSize: 1,
    orderBy: '-salary',
  })
  // Too many digits to stand in an id by chance.
  const some = 918273645
  for (const salary of [1, 2, 3].map((one) => some * 10 + one)) {
    await stored.insert({ name: `n${salary}`, salary })
  }
  const first = await send('GET', '/people', seeing('name salary'))
  const { nextCursor } = first.body.pagination as { nextCursor: string }
  expect(Buffer.from(nextCursor, 'base64url').toString()).not.toContain(`${some}`)
  const next = `/people?cursor=${nextCursor}`
  expect((await send('GET', next, seeing('salary'))).records).toHaveLength(1)
  const other = await send('GET', next, seeing('name'))
  expect([other.status, other.body.error]).toEqual([
    400,
    'Cursor was issued for a different sort order.',
  ])
  const sorted = await send('GET', `${next}&sort=-salary`, seeing('name'))
  expect(sorted.body.error).toBe("Field 'salary' is not sortable.")
})

test('select, populate and a failing onGet show nothing else', async () => {
  const { send, seeing, stored } = people({
    onGet(request) {
      if (request.query.fail) throw new Error('broken')
      return { select: String(request.query.fields ?? ''), populate: 'boss' }
    },
  })
  const boss = await stored.insert({ name: 'Bea', salary: 9 })
  const { _id } = await stored.insert({ name: 'Ann', salary: 5, boss: boss._id, place })
  const shown = async (query: string, which: string) =>
    (await send('GET', `/people/${_id}${query}`, seeing(which))).record
  expect(await shown('', 'name boss')).toEqual({
    _id,
    name: 'Ann',
    boss: { _id: boss._id, name: 'Bea' },
  })
  expect(await shown('', 'name')).toEqual({ _id, name: 'Ann' })
  expect(await shown('?fields=salary', 'name')).toEqual({ _id })
  expect(await shown('?fields=salary name', 'name')).toEqual({ _id, name: 'Ann' })
  expect(await shown('?fields=-name', 'name place')).toEqual({ _id, place: { city: 'Ur' } })
  expect(await shown('?fields=-place.city', 'name place')).toEqual({ _id, name: 'Ann' })
  expect(await shown('?fail=1', 'name boss')).toEqual({ _id, name: 'Ann', boss: boss._id })
})

test('the model’s own output gets what the request may see', async () => {
  const Shown = defineModel('ReaderShown', {
    fields: { name: z.string(), salary: z.number() },
    output: (record) => ({ ...record, label: `${record.name} ${record.salary}` }),
  })
  const { app, send } = service()
  const router = createRouter({
    model: Shown,
    middlewares: [],
    allowedFields: ['name', 'salary'],
    fieldsFor: () => ['name'],
  })
  app.mount('/shown', router)
  const { text } = await send('POST', '/shown', { json: { name: 'Ann', salary: 700001 } })
  expect(text).toContain('Ann undefined')
  expect((await send('GET', '/shown')).text).not.toContain('700001')
})

test('records of other models show what their populate selects', async () => {
  const Task = defineModel('ReaderTask', { fields: { owner: ref('ReaderPerson') } })
  const { app, send, stored } = people({ fieldsFor: () => ['name'] })
  app.mount(
    '/tasks',
    createRouter({
      model: Task,
      middlewares: [],
      allowedFields: ['owner'],
      onGet: () => ({ populate: 'owner' }),
    }),
  )
  const { _id } = await stored.insert({ name: 'Ann', salary: 5 })
  await app.store.collection(Task).insert({ owner: _id })
  const [task] = (await send('GET', '/tasks')).records
  expect(task?.owner).toMatchObject({ name: 'Ann', salary: 5 })
})

test('readers who see different fields share no response, and those who see the same do', async () => {
  const { send, seeing, stored } = people({ cache: true })
  const { _id } = await stored.insert({ name: 'Ann', salary: 5 })
  const get = async (which?: string) => {
    const message = which === undefined ? {} : seeing(which)
    const { headers, record } = await send('GET', `/people/${_id}`, message)
    return [headers.get('x-cache'), Object.keys(record)]
  }
  const whole = ['_id', 'name', 'salary', 'phone', 'createdAt', 'updatedAt']
  expect(await get()).toEqual(['MISS', expect.arrayContaining(whole)])
  expect(await get('name salary')).toEqual(['MISS', ['_id', 'name', 'salary']])
  expect(await get('salary name')).toEqual(['HIT', ['_id', 'name', 'salary']])
  expect(await get('name')).toEqual(['MISS', ['_id', 'name']])
  expect(await get('')).toEqual(['MISS', ['_id']])
  expect(await get('name')).toEqual(['HIT', ['_id', 'name']])
})

test('If-Match compares what the request may see', async () => {
  const { send, seeing, stored } = people()
  const { _id } = await stored.insert({ name: 'Ann', salary: 5 })
  const path = `/people/${_id}`
  const etag = async (which: string) =>
    String((await send('GET', path, seeing(which))).headers.get('etag'))
  const [narrow, wide] = [await etag('name'), await etag('name salary')]
  await stored.update(_id, { salary: 6 })
  expect(await etag('name')).toBe(narrow)
  const write = (which: string, tag: string) =>
    send('PATCH', path, seeing(which, { json: { phone: '1' }, headers: { 'if-match': tag } }))
  expect((await write('name salary', wide)).status).toBe(412)
  expect((await write('name', narrow)).status).toBe(200)
  await stored.update(_id, { name: 'Bea' })
  expect((await write('name', narrow)).status).toBe(412)
})

test.each<[string, FieldsFor<Person>, string]>([
  [
    'an unknown name',
    () => ['nam' as 'name'],
    "'fieldsFor' lists 'nam', but ReaderPerson has no such field. Did you mean 'name'?",
  ],
  [
    'a path',
    () => ['place.city' as 'name'],
    "'fieldsFor' takes whole fields: name 'place' instead of 'place.city'.",
  ],
  ['a hidden field', () => ['secret'], "'fieldsFor' lists 'secret', which is hidden"],
  ['null', () => null as never, 'fieldsFor must return a list of field names, or undefined'],
  ['one name', () => 'name' as never, 'fieldsFor must return a list of field names, or undefined'],
  ['an error', () => fail(new Error('no roles today')), 'no roles today'],
  ['an error of a schema', async () => z.array(z.literal('name')).parse(['x']), 'Invalid input'],
])(
  'fieldsFor with %s is a 500 on every route, and nothing is written',
  async (_, fieldsFor, line) => {
    const { send, stored, log } = people({ fieldsFor, cache: true })
    const before = await stored.insert({ name: 'Ann' })
    const path = `/people/${before._id}`
    const json = { name: 'Bea' }
    const answers = [
      await send('GET', '/people'),
      await send('QUERY', '/people', { json: {} }),
      await send('GET', path),
      await send('POST', '/people', { json }),
      await send('PATCH', path, { json }),
    ]
    for (const { status, body } of answers) {
      expect([status, body.error, body.data]).toEqual([500, 'Internal Server Error', undefined])
    }
    expect(log.text.split(JSON.stringify(line).slice(1, -1)).length - 1).toBeGreaterThanOrEqual(5)
    expect(await stored.find()).toEqual([before])
  },
)

test('fieldsFor may refuse, may be async, and is called once per request', async () => {
  const calls: ApiRequest[] = []
  const { send, stored } = people({
    cache: true,
    async fieldsFor(request) {
      calls.push(request)
      if (request.query.refuse) throw new HttpError(403, 'No.')
      return ['name']
    },
  })
  const { _id } = await stored.insert({ name: 'Ann', salary: 5 })
  expect((await send('GET', '/people?refuse=1')).status).toBe(403)
  calls.length = 0
  await send('GET', '/people')
  await send('GET', `/people/${_id}`)
  const headers = { 'if-match': String((await send('GET', `/people/${_id}`)).headers.get('etag')) }
  const json = { salary: 6 }
  expect((await send('PATCH', `/people/${_id}`, { json, headers })).record).toEqual({
    _id,
    name: 'Ann',
  })
  expect(calls).toHaveLength(4)
})

test('hooks get the whole record, and writing is up to allowedFields', async () => {
  const seen: unknown[] = []
  const { send, stored } = people({
    fieldsFor: () => ['name'],
    allowedFields: ['salary'],
    beforeUpdate: ({ record }) => void seen.push(record.salary),
    afterUpdate: ({ record }) => void seen.push(record.salary),
  })
  const { _id } = await stored.insert({ name: 'Ann', salary: 5 })
  const { record } = await send('PATCH', `/people/${_id}`, { json: { salary: 6 } })
  expect([record, seen]).toEqual([{ _id, name: 'Ann' }, [5, 6]])
})

function fail(error: Error): never {
  throw error
}
