/**
 * The routes of records, of which each request's calls are failed: with caches, references, files, logs of changes, batches
 * and idempotency keys.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { batch } from '../../../src/batch/index.ts'
import { idempotency } from '../../../src/guards/index.ts'
import { createRouter, defineModel, type Fields, ref, sweepFiles } from '../../../src/index.ts'
import { png } from '../../uploads/png.ts'
import { KINDS } from './faults.ts'
import { cacheOf, filesOf } from './kept.ts'
import type { Answer, Place, Served } from './place.ts'
import type { Scenario, Step } from './run.ts'

const Country = defineModel('StepCountry', {
  fields: { name: z.string(), people: z.number().optional() },
  unique: ['name'],
})
const City = defineModel('StepCity', {
  fields: {
    name: z.string(),
    country: ref('StepCountry', { onDelete: 'cascade' }),
    people: z.number().optional(),
    image: z.string().nullable().optional(),
  },
  unique: ['name'],
  changes: true,
  timestamps: true,
})
const Note = defineModel('StepNote', {
  fields: { text: z.string(), city: ref('StepCity', { onDelete: 'unset' }).optional() },
})
const Task = defineModel('StepTask', {
  fields: {
    title: z.string(),
    count: z.number().optional(),
    image: z.string().nullable().optional(),
  },
  changes: true,
})
const Order = defineModel('StepOrder', { fields: { code: z.string() }, unique: ['code'] })

const upload = { fields: [{ name: 'image' }] } as never
const MODELS = { countries: Country, cities: City, notes: Note, tasks: Task, orders: Order }

const served: Served = {
  options: (faults, place) => ({
    files: faults.around('files', filesOf(place)),
    cache: faults.around('cache', cacheOf(place)),
  }),
  mount(app, faults, place) {
    app.use(idempotency({ ttlSeconds: 86_400 }))
    const cached = { cache: true, middlewares: [] } as const
    app.mount(
      '/countries',
      createRouter({ model: Country, ...cached, allowedFields: ['name', 'people'] }),
    )
    app.mount(
      '/cities',
      createRouter({
        model: City,
        ...cached,
        allowedFields: ['name', 'people', 'country', 'image'],
        upload,
        onGet: () => ({ populate: 'country' }),
      }),
    )
    app.mount('/notes', createRouter({ model: Note, ...cached, allowedFields: ['text', 'city'] }))
    const told = (what: string) => () => void place.told.push({ what, details: {} })
    app.mount(
      '/tasks',
      createRouter({
        model: Task,
        ...cached,
        history: true,
        access: { history: true, restore: true },
        upload,
        allowedFields: ['title', 'count', 'image'],
        runAfterCreate: told('afterCreate'),
        beforeUpdate: ({ changes }: { changes: object }) => changes,
        afterUpdate: told('afterUpdate'),
        beforeRemove: () => {},
        afterRemove: told('afterRemove'),
      } as never),
    )
    app.mount(
      '/orders',
      createRouter({
        model: Order,
        allowedFields: ['code'],
        middlewares: [],
      }),
    )
    app.mount(
      '/cached-orders',
      createRouter({
        model: Order,
        allowedFields: ['code'],
        middlewares: [
          idempotency({ ttlSeconds: 86_400, cache: faults.around('keys', cacheOf(place)) }),
        ],
      }),
    )
    for (const [name, model] of Object.entries(MODELS)) {
      const raw = name === 'cities' ? { onGet: () => ({ populate: 'country' }) } : {}
      app.mount(
        `/raw/${name}`,
        createRouter({
          model: model as never,
          ...raw,
          middlewares: [],
          allowedFields: [],
        } as never),
      )
    }
    app.mount('/batch', batch())
  },
}

/** Fills the caches. */
async function look(place: Place): Promise<void> {
  for (const name of Object.keys(MODELS)) await place.ask('GET', `/${name}`)
}

/** What must hold of every place at any time: caches, files and the log say what the records say. */
async function wrongOf(place: Place): Promise<string[]> {
  const all = await place.records()
  const of = (name: string) => all.get(name) ?? []
  return [
    ...(await wrongCaches(place)),
    ...wrongReferences(of('stepcities'), 'country', of('stepcountries')),
    ...wrongReferences(of('stepnotes'), 'city', of('stepcities')),
    ...(await wrongLog(place, 'StepTask', of('steptasks'))),
    ...(await wrongLog(place, 'StepCity', of('stepcities'))),
    ...(await wrongFiles(place, [...of('stepcities'), ...of('steptasks')])),
  ]
}

async function wrongCaches(place: Place): Promise<string[]> {
  const wrong: string[] = []
  for (const name of Object.keys(MODELS)) {
    const kept = await place.ask('GET', `/${name}`)
    const raw = await place.ask('GET', `/raw/${name}`)
    if (JSON.stringify(kept.body.data) !== JSON.stringify(raw.body.data)) {
      wrong.push(`the cache of ${name} says ${kept.text} instead of ${raw.text}`)
    }
  }
  return wrong
}

function wrongReferences(
  from: readonly Fields[],
  field: string,
  to: readonly Fields[],
): readonly string[] {
  const ids = new Set(to.map(({ _id }) => _id))
  const lost = from.filter((one) => one[field] && !ids.has(one[field]))
  return lost.map((one) => `${JSON.stringify(one)} refers to nothing`)
}

/** What is wrong with the log, once it has everything: other tests' writes to the same server hold its last entries back. */
async function wrongLog(
  place: Place,
  model: string,
  records: readonly Fields[],
): Promise<readonly string[]> {
  const until = performance.now() + LOG_MS
  for (;;) {
    const wrong = await wrongNow(place, model, records)
    if (wrong.length === 0 || performance.now() > until) return wrong
    await pause(20)
  }
}

const LOG_MS = 5000

async function wrongNow(
  place: Place,
  model: string,
  records: readonly Fields[],
): Promise<readonly string[]> {
  const read = await place.store.changes?.read(place.from, { limit: 1000, models: [model] })
  const changes = read && 'changes' in read ? read.changes : []
  const last = new Map(changes.map(({ before, after }) => [(after ?? before)?._id, after]))
  const there = new Map(records.map((record) => [record._id, record]))
  const ids = [...new Set([...last.keys(), ...there.keys()])]
  const texts = (id: unknown) =>
    [last.get(id), there.get(id)].map((one) => JSON.stringify(one ?? null))
  return ids
    .map(texts)
    .filter(([logged, stored]) => logged !== stored)
    .map(([logged, stored]) => `the log of ${model} ends with ${logged} instead of ${stored}`)
}

async function wrongFiles(place: Place, records: readonly Fields[]): Promise<readonly string[]> {
  const { objects, keyOf } = filesOf(place)
  const held = records.flatMap(({ image }) => (image ? [String(keyOf(String(image)))] : []))
  const wrong = held.filter((key) => !objects.has(key)).map((key) => `a dead link to ${key}`)
  await sweepFiles(place.app, { now: () => place.time + 7_200_000 })
  if (objects.size !== held.length)
    wrong.push(`${objects.size} files of ${held.length} after a sweep`)
  return wrong
}

interface Given {
  readonly place: Place
  add(path: string, values: object): Promise<Fields & { _id: string }>
  form(method: string, path: string, values: Fields, hasFile?: boolean): () => Promise<Answer>
}

async function must(answer: Promise<Answer>): Promise<Fields & { _id: string }> {
  const { status, body, text } = await answer
  if (status >= 300) throw new Error(text)
  return body.data
}

function scenario(name: string, prepare: (given: Given) => Promise<Step>): Scenario {
  return {
    name,
    served,
    leftOut: ['fieldgate_idempotency_keys', 'fieldgate_fences'],
    async prepare(place) {
      const given: Given = {
        place,
        add: (path, values) => must(place.post(path, values)),
        form(method, path, values, hasFile = true) {
          return () =>
            place.ask(method, path, undefined, {
              form: () => {
                const form = new FormData()
                for (const [key, value] of Object.entries(values)) form.set(key, String(value))
                if (hasFile) form.set('image', new File([png as BlobPart], 'a.png'))
                return form
              },
            })
        },
      }
      const step = await prepare(given)
      await look(place)
      return {
        ...step,
        async check(isDone) {
          const wrong = await wrongOf(place)
          return [...wrong, ...((await step.check?.(isDone)) ?? [])]
        },
      }
    },
  }
}

const key = (value: string) => ({ headers: { 'idempotency-key': value } })

export const recordScenarios: readonly Scenario[] = [
  scenario('create', async ({ place }) => ({
    send: () => place.post('/countries', { name: 'Chad' }),
    done: [409],
  })),
  scenario('create of what refers', async ({ place, add }) => {
    const { _id: country } = await add('/countries', { name: 'Chad' })
    return { send: () => place.post('/cities', { name: 'Ati', country }), done: [409] }
  }),
  scenario('create with hooks', async ({ place }) => ({
    twice: true,
    send: () => place.post('/tasks', { title: 'one' }),
  })),
  scenario('update', async ({ place, add }) => {
    const { _id } = await add('/countries', { name: 'Chad' })
    return { send: () => place.ask('PATCH', `/countries/${_id}`, { people: 5 }) }
  }),
  scenario('update with hooks', async ({ place, add }) => {
    const { _id } = await add('/tasks', { title: 'one' })
    return { send: () => place.ask('PATCH', `/tasks/${_id}`, { count: 5 }) }
  }),
  scenario('update if it matches', async ({ place, add }) => {
    const { _id } = await add('/countries', { name: 'Chad' })
    const read = await place.ask('GET', `/countries/${_id}`)
    const headers = { 'if-match': String(read.headers.get('etag')) }
    return {
      send: () => place.ask('PATCH', `/countries/${_id}`, { people: 5 }, { headers }),
      done: [412],
    }
  }),
  scenario('update of a reference', async ({ place, add }) => {
    const { _id: country } = await add('/countries', { name: 'Chad' })
    const { _id: other } = await add('/countries', { name: 'Niger' })
    const { _id } = await add('/cities', { name: 'Ati', country })
    return { send: () => place.ask('PATCH', `/cities/${_id}`, { country: other }) }
  }),
  scenario('delete', async ({ place, add }) => {
    const { _id } = await add('/tasks', { title: 'one' })
    return { send: () => place.ask('DELETE', `/tasks/${_id}`), done: [404] }
  }),
  scenario('delete with what refers to it', async ({ place, add, form }) => {
    const { _id: country } = await add('/countries', { name: 'Chad' })
    const city = await must(form('POST', '/cities', { name: 'Ati', country })())
    await add('/notes', { text: 'hot', city: city._id })
    return { send: () => place.ask('DELETE', `/countries/${country}`), done: [404] }
  }),
  scenario('upload', async ({ form }) => ({
    twice: true,
    send: form('POST', '/tasks', { title: 'one' }),
  })),
  scenario('upload of another file', async ({ form }) => {
    const { _id } = await must(form('POST', '/tasks', { title: 'one' })())
    return { send: form('PATCH', `/tasks/${_id}`, { count: 5 }) }
  }),
  scenario('removal of a file', async ({ place, form }) => {
    const { _id } = await must(form('POST', '/tasks', { title: 'one' })())
    return { send: () => place.ask('PATCH', `/tasks/${_id}`, { image: null }) }
  }),
  scenario('delete with a file', async ({ place, form }) => {
    const { _id } = await must(form('POST', '/tasks', { title: 'one' })())
    return { send: () => place.ask('DELETE', `/tasks/${_id}`), done: [404] }
  }),
  scenario('batch', async ({ place, add }) => {
    const { _id: country } = await add('/countries', { name: 'Chad' })
    const { _id: task } = await add('/tasks', { title: 'one' })
    const operations = [
      { method: 'POST', path: '/cities', body: { name: 'Ati', country } },
      { method: 'PATCH', path: `/countries/${country}`, body: { people: 5 } },
      { method: 'DELETE', path: `/tasks/${task}` },
    ]
    return { send: () => place.post('/batch', { operations }), done: [404, 409] }
  }),
  scenario('batch with a key', async ({ place, add }) => {
    const { _id: country } = await add('/countries', { name: 'Chad' })
    const operations = [
      { method: 'POST', path: '/cities', body: { name: 'Ati', country } },
      { method: 'POST', path: '/tasks', body: { title: 'two' } },
    ]
    return {
      waits: 61,
      send: () => place.ask('POST', '/batch', { operations }, key('k1')),
      done: [409],
    }
  }),
  scenario('create with a key', async ({ place }) => ({
    waits: 61,
    send: () => place.ask('POST', '/orders', { code: 'a' }, key('k1')),
    done: [409],
  })),
  scenario('create with a key in a cache', async ({ place }) => ({
    waits: 61,
    send: () => place.ask('POST', '/cached-orders', { code: 'a' }, key('k1')),
    done: [409],
  })),
  scenario('restore', async ({ place, add }) => {
    const { _id } = await add('/tasks', { title: 'one' })
    await place.ask('PATCH', `/tasks/${_id}`, { title: 'two' })
    const { body } = await place.ask('GET', `/tasks/${_id}/history`)
    const changeId = body.data.at(-1).id
    return { send: () => place.post(`/tasks/${_id}/restore`, { changeId }) }
  }),
  scenario('restore of what is gone', async ({ place, add }) => {
    const { _id } = await add('/tasks', { title: 'one' })
    await place.ask('DELETE', `/tasks/${_id}`)
    const { body } = await place.ask('GET', `/tasks/${_id}/history`)
    const changeId = body.data.at(-1).id
    return {
      tells: 'afterUpdate',
      done: [200],
      send: () => place.post(`/tasks/${_id}/restore`, { changeId }),
    }
  }),
  {
    ...scenario('work in one step', async ({ place, add }) => {
      const { _id } = await add('/countries', { name: 'Chad' })
      const send = async (): Promise<Answer> => {
        const { faults } = place
        const work = place.app.store.atomic(async (tx) => {
          const found = await tx.collection(Country).findById(_id)
          await tx.collection(Country).update(_id, { people: Number(found?.people ?? 0) + 1 })
          await tx.collection(Task).insert({ title: 'one' })
        })
        const done = work.then(
          () => 200,
          () => 503,
        )
        const held = Promise.withResolvers<number>()
        const looking = setInterval(() => faults.isHeld && held.resolve(503), 20)
        const status = await Promise.race([done, faults.gone.then(() => 0), held.promise])
        clearInterval(looking)
        faults.release()
        if (status === 503) await done
        return { status, body: {}, text: '', headers: new Headers() }
      }
      return { twice: true, send }
    }),
    // No request's time ends it.
    kinds: KINDS.filter((kind) => kind !== 'stuck'),
  },
  scenario('list', async ({ place, add }) => {
    await add('/countries', { name: 'Chad' })
    return { joins: true, send: () => place.ask('GET', '/countries?page=1') }
  }),
  scenario('read', async ({ place, add }) => {
    const { _id: country } = await add('/countries', { name: 'Chad' })
    const { _id } = await add('/cities', { name: 'Ati', country })
    return { joins: true, send: () => place.ask('GET', `/cities/${_id}`) }
  }),
  scenario('history', async ({ place, add }) => {
    const { _id } = await add('/tasks', { title: 'one' })
    return { send: () => place.ask('GET', `/tasks/${_id}/history`) }
  }),
]
