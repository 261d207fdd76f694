/** What docs/changing-models.md says of models that change, as far as no other test here shows it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  type AppOptions,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  ref,
  type Store,
} from '../../src/index.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { backfillRecords } from '../../src/upkeep/changes/backfill.ts'
import { checkRecords } from '../../src/upkeep/check/check.ts'
import { answerOf, recordedLog, request } from '../records/service.ts'

/** One database for several apps: closing an app leaves it open. */
function shared(): Store {
  const store = sqliteStore()
  onTestFinished(() => store.close())
  return { ...store, close: async () => {} }
}

/** An app over one version of the model 'Person', in `store`. */
function version(
  store: Store,
  fields: z.ZodRawShape,
  options: object = {},
  router: object = {},
  app: Partial<AppOptions> = {},
) {
  const log = recordedLog()
  const model = defineModel('Person', { fields, ...options } as never)
  const made = createApp({ store, logger: log, env: {}, ...app })
  onTestFinished(() => made.close())
  const allowedFields = Object.keys(fields)
  made.mount('/people', createRouter({ model, middlewares: [], allowedFields, ...router } as never))
  const people = made.store.collection(model) as unknown as {
    insert(record: Fields): Promise<Fields & { _id: string }>
    findById(id: string): Promise<Fields | null>
  }
  const send = async (method: string, path: string) =>
    answerOf(await made.handle(request(method, path)))
  const warned = () =>
    log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  return { app: made, model, people, send, warned }
}

/** A database with one person, stored by a version with these fields. */
async function stored(record: Fields, fields: z.ZodRawShape, options: object = {}) {
  const store = shared()
  const before = version(store, fields, options)
  const { _id } = await before.people.insert(record)
  return { store, id: _id }
}

/** Runs a backfill as the command does. */
async function backfilled({ app, model }: Pick<ReturnType<typeof version>, 'app' | 'model'>) {
  const { stored: records, history, database, schemas } = hostOf(app.store)
  await database.prepare(schemas())
  return backfillRecords({ models: [model], stored: records, history, database, schemas } as never)
}

const name = z.string()

type Now = ReturnType<typeof version>

/** A PATCH by a client that has read the record. */
async function patched({ app }: Now, id: string, isMatched: boolean): Promise<void> {
  const { headers } = await app.handle(request('GET', `/people/${id}`))
  const match = isMatched ? { 'If-Match': headers.get('etag') ?? '' } : {}
  const message = { json: { note: 'null' }, headers: match }
  const { status } = await app.handle(request('PATCH', `/people/${id}`, message))
  expect(status).toBe(200)
}

/** Writes to a person whose name is null, and what they leave. */
const WRITES: Readonly<
  Record<string, { write(now: Now, id: string): Promise<unknown>; left: object }>
> = {
  PATCH: { write: (now, id) => patched(now, id, false), left: { lastName: null, note: 'null' } },
  'PATCH with If-Match': {
    write: (now, id) => patched(now, id, true),
    left: { lastName: null, note: 'null' },
  },
  atomic: {
    write: ({ app, model }, id) =>
      app.store.atomic(async (tx) => {
        const found = await tx.collection(model).findById(id)
        await tx.collection(model).update(id, { note: `${found?.lastName}` } as never)
      }),
    left: { lastName: null, note: 'null' },
  },
  removal: {
    write: ({ app, model }, id) =>
      app.store.collection(model).update(id, { note: 'null', lastName: undefined } as never),
    left: { note: 'null' },
  },
}

describe('an old record', () => {
  it('gets no default of an optional field', async () => {
    const { store, id } = await stored({ name: 'a' }, { name })
    const { send } = version(store, { name, language: name.default('en').optional() })
    expect((await send('GET', `/people/${id}`)).record).toEqual({ _id: id, name: 'a' })
  })

  it('gets its defaults where populate fills it in, too', async () => {
    const { store, id } = await stored({ name: 'a' }, { name })
    const { app, send } = version(store, { name, language: name.default('en') })
    const Note = defineModel('ChangedNote', { fields: { by: ref('Person') } })
    const onGet = () => ({ populate: ['by'] as const })
    app.mount('/notes', createRouter({ model: Note, middlewares: [], allowedFields: [], onGet }))
    await app.store.collection(Note).insert({ by: id })
    expect((await send('GET', '/notes')).records).toMatchObject([{ by: { language: 'en' } }])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['returns what the field does not take', () => 'forty-two'],
  ])('stays as it is if convert %s, and check reports it', async (_, convert) => {
    const { store, id } = await stored({ age: '42' }, { age: name })
    const now = version(store, { age: z.number() }, { convert: { age: convert } })
    expect((await now.send('GET', `/people/${id}`)).record).toEqual({ _id: id, age: '42' })
    const { problems } = await checkRecords(store, [now.model])
    expect(problems).toMatchObject([{ problem: 'type', field: 'age', count: 1, examples: [id] }])
  })

  it('is not converted if its value fits', async () => {
    const { store, id } = await stored({ age: 42 }, { age: z.number() })
    const { send } = version(store, { age: z.number() }, { convert: { age: () => 0 } })
    expect((await send('GET', `/people/${id}`)).record).toEqual({ _id: id, age: 42 })
  })

  it('whose string is a date is one for app.store, and for clients once it is written again', async () => {
    const { store, id } = await stored({ born: '2020-01-31' }, { born: name })
    const { app, model, people, send } = version(store, { born: z.date() }, {}, { query: ['born'] })
    const born = new Date('2020-01-31')
    expect(await people.findById(id)).toEqual({ _id: id, born })
    await app.store.collection(model).update(id, { born })
    const shown = { _id: id, born: '2020-01-31T00:00:00.000Z' }
    expect((await send('GET', `/people/${id}`)).record).toEqual(shown)
    expect((await send('GET', '/people?born=2020-01-31')).records).toEqual([shown])
  })

  it('is found by a search under its earlier name', async () => {
    const { store } = await stored({ surname: 'Lovelace' }, { surname: name })
    const renamed = { renamed: { surname: 'lastName' } }
    const { send } = version(store, { lastName: name }, renamed, { search: ['lastName'] })
    expect((await send('GET', '/people?s=love')).records).toMatchObject([{ lastName: 'Lovelace' }])
  })

  it.each<[string, object, object?]>([
    ['as it is', {}],
    ['of a model with rules across fields', {}, { rules: true }],
    ['by a router with beforeUpdate', { beforeUpdate: () => {} }],
    ['of a model with a log', {}, { changes: true }],
  ])('with null under an earlier name is written like any other: %s', async (_, router, more) => {
    const { rules, ...options } = (more ?? {}) as { rules?: true }
    const whole = { lastName: name.nullish(), note: name.optional() }
    const fields = rules ? z.object(whole).refine(() => true) : whole
    const renamed = { ...options, renamed: { surname: 'lastName' } }
    const allowedFields = { allowedFields: ['lastName', 'note'], ...router }
    for (const [write, expected] of Object.entries(WRITES)) {
      const { store, id } = await stored({ surname: null }, { surname: name.nullable() }, options)
      const now = version(store, fields as never, renamed, allowedFields)
      expect((await now.send('GET', `/people/${id}`)).record).toEqual({ _id: id, lastName: null })
      await expected.write(now, id)
      expect([write, await now.people.findById(id)]).toEqual([write, { _id: id, ...expected.left }])
    }
  })

  it('has the names of now where hooks see it go', async () => {
    const { store, id } = await stored({ surname: 'Lovelace' }, { surname: name })
    const gone: unknown[] = []
    const { app, model, send } = version(
      store,
      { lastName: name },
      { renamed: { surname: 'lastName' } },
      { afterRemove: ({ record }: { record: object }) => void gone.push(record) },
    )
    // What refers to a person keeps it, so a removal is several steps.
    const Note = defineModel('KeptNote', {
      fields: { by: ref('Person', { onDelete: 'restrict' }) },
    })
    app.mount('/notes', createRouter({ model: Note, middlewares: [] }))
    await app.store.atomic(async (tx) => {
      const [found] = await tx.collection(model).find({})
      expect(found).toEqual({ _id: id, lastName: 'Lovelace' })
    })
    expect((await send('DELETE', `/people/${id}`)).status).toBe(200)
    expect(gone).toEqual([{ _id: id, lastName: 'Lovelace' }])
  })
})

describe('renamed', () => {
  it.each([{ 'home.street': 'street' }, { street: 'home.street' }])(
    'takes whole fields alone: %j',
    (renamed) => {
      const fields = {
        home: z.object({ street: name.optional() }).optional(),
        street: name.optional(),
      }
      expect(() => defineModel('Person', { fields, renamed } as never)).toThrow(TypeError)
    },
  )
})

describe('start-up', () => {
  it('says in a sentence which fields of a model have changed', async () => {
    const { store } = await stored({ surname: 'a', age: '42' }, { surname: name, age: name })
    const { app, warned } = version(
      store,
      {
        lastName: name,
        age: z.number(),
        language: name.default('en'),
        email: z.email().optional(),
      },
      { renamed: { surname: 'lastName' }, convert: { age: Number } },
    )
    await app.ready()
    expect(warned()).toEqual([
      "Model 'Person' has changed since its records were stored: surname, age, lastName, language. 'npx fieldgate check <file>' tells which records do not fit; <file> is the one that exports your app. Once all fit, 'npx fieldgate backfill <file>' ends this warning.",
    ])
  })

  it('says which unique index of another version is still there', async () => {
    const options = { unique: ['email'] }
    const { store } = await stored({ email: 'a@b.example' }, { email: name }, options)
    const { app, warned } = version(store, { email: name })
    await app.ready()
    expect(warned()).toContain(
      `SQLite: 'people' still has the unique index 'people unique ["email"]' of another version of the app, which refuses a second record with the same email. If no version needs it any more, 'npx fieldgate backfill <file>' drops it; <file> is the one that exports your app.`,
    )
  })

  it('goes on with a warning if the comparison fails', async () => {
    const { store } = await stored({ age: '42' }, { age: name })
    const broken: Store = {
      ...store,
      collection: (schema) => {
        const collection = store.collection(schema)
        if (schema.name !== 'fieldgate_models') return collection
        const fail = async () => {
          throw new Error('no such lines')
        }
        return { ...collection, find: fail, findJson: undefined } as never
      },
    }
    const { app, send, warned } = version(broken, { age: z.number() })
    await app.ready()
    expect(warned().join('\n')).toContain('is unknown')
    expect((await send('GET', '/people')).status).toBe(200)
  })
})

describe('a backfill', () => {
  it('leaves updatedAt, runs no hook, and clears cached responses', async () => {
    const store = shared()
    let time = Date.UTC(2026, 0, 1)
    const now = () => time
    const timestamps = { timestamps: true }
    const before = version(store, { name }, timestamps, {}, { now })
    const { _id } = await before.people.insert({ name: 'a' })
    const updatedAt = new Date(time).toISOString()
    time += 60_000
    const hooks: string[] = []
    const router = {
      cache: true,
      query: ['language'],
      ...{ validate: () => void hooks.push('validate') },
      ...{ beforeUpdate: () => void hooks.push('beforeUpdate') },
      ...{ afterUpdate: () => void hooks.push('afterUpdate') },
    }
    const cache = memoryCache()
    const after = version(store, { name, language: name.default('en') }, timestamps, router, {
      now,
      cache,
    })
    const found = async () => (await after.send('GET', '/people?language=en')).records.length
    expect([await found(), await found()]).toEqual([0, 0])
    await backfilled(after)
    expect(await found()).toBe(1)
    expect(hooks).toEqual([])
    expect((await after.send('GET', `/people/${_id}`)).record).toMatchObject({
      language: 'en',
      updatedAt,
    })
  })

  it('drops the indexes of fieldgate that nothing declares any more, and leaves your own', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fieldgate-changes-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const path = join(folder, 'app.db')
    const before = version(sqliteStore({ path }), { email: name }, { indexes: ['email'] })
    await before.people.insert({ email: 'a@b.example' })
    await before.app.close()
    const database = new DatabaseSync(path)
    onTestFinished(() => database.close())
    database.exec('CREATE INDEX "by me" ON people (_id)')
    const indexes = () =>
      database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")
        .all()
        .map(({ name }) => String(name))
    expect(indexes()).toContainEqual(expect.stringContaining('email'))
    await backfilled(version(sqliteStore({ path }), { email: name }))
    expect(indexes()).toContain('by me')
    expect(indexes().join()).not.toContain('email')
  })
})
