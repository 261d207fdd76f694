/**
 * Which fields a 409 names when several unique constraints clash at once: the same on every store.
 *
 * @module
 */

import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Store,
} from '../../../src/index.ts'
import { answerOf, NOON, recordedLog, request } from '../service.ts'

const fields = {
  nick: z.string().nullish(),
  email: z.string().nullish(),
  team: z.string().nullish(),
  seat: z.number().nullish(),
  born: z.date().nullish(),
  home: z.object({ code: z.string().nullish() }).nullish(),
  note: z.string().optional(),
}
const unique = ['email', ['team', 'seat'], 'nick', 'born', 'home.code', ['nick', 'team']] as const
const FULL = {
  nick: 'n',
  email: 'e',
  team: 't',
  seat: 1,
  born: '2000-01-01T00:00:00.000Z',
  home: { code: 'c' },
}
const EVERY = ['email', 'team', 'seat', 'nick', 'born', 'home.code']
const ID = 'a'.repeat(24)

/** Registers the suite for the store named `name`; `open` gives a store whose collection `collection` is empty. */
export function clashes(name: string, open: () => Store | Promise<Store>): void {
  describe(`all constraints that clash are named, in the model's order, on ${name}`, () => {
    let app: App
    let stored: ReturnType<typeof collectionOf>
    const apps: App[] = []
    const { collectionOf, make } = setting()
    beforeEach(async () => {
      app = await make(await open())
      apps.push(app)
      stored = collectionOf(app)
    })
    afterAll(async () => {
      for (const one of apps) await one.close()
    })

    const send = async (method: string, path: string, json: unknown) =>
      answerOf(await app.handle(request(method, path, { json })))
    const expectClash = async (method: string, path: string, json: unknown, named: string[]) => {
      const { status, body } = await send(method, path, json)
      expect({ status, error: body.error, fields: Object.entries(body.fields ?? {}) }).toEqual({
        status: 409,
        error: `Duplicate value for: ${named.join(', ')}.`,
        fields: named.map((field) => [field, 'Already exists.']),
      })
    }
    const clashOf = async (write: Promise<unknown>) => {
      const error = await write.catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ status: 409 })
      return Object.keys((error as { fields: object }).fields)
    }

    test('a POST that clashes with one record in everything', async () => {
      await send('POST', '/people', FULL)
      await expectClash('POST', '/people', FULL, EVERY)
    })

    test('a POST that clashes with several records, each in something else', async () => {
      await send('POST', '/people', { email: 'e' })
      await send('POST', '/people', { born: FULL.born, home: { code: 'other' } })
      await send('POST', '/people', { team: 't', seat: 1 })
      await expectClash('POST', '/people', FULL, ['email', 'team', 'seat', 'born'])
    })

    test('half a compound set, null and what is missing clash with nothing', async () => {
      await send('POST', '/people', { email: 'e', team: 't', seat: 2, nick: null })
      await expectClash('POST', '/people', { ...FULL, nick: null, born: null }, ['email'])
      await send('POST', '/people', { team: 't', nick: 'n', email: null })
      await expectClash('POST', '/people', { nick: 'n', team: 't', email: null, seat: null }, [
        'nick',
        'team',
      ])
    })

    test('a PATCH names what it touches and what stands beside it in a set, not its own record', async () => {
      await send('POST', '/people', { email: 'e', team: 't', seat: 1, nick: 'n' })
      const { record } = await send('POST', '/people', { team: 'u', seat: 1, nick: 'm', born: 0 })
      const path = `/people/${record._id}`
      await expectClash('PATCH', path, { team: 't' }, ['team', 'seat'])
      await expectClash('PATCH', path, { team: 't', nick: 'n' }, ['team', 'seat', 'nick'])
      await expectClash('PATCH', path, { nick: 'n', email: 'e', born: 0 }, ['email', 'nick'])
      expect((await send('PATCH', path, { team: 'u', nick: 'm', born: 0 })).status).toBe(200)
    })

    test('app.store: insert under an _id that is taken, update, updateWhere', async () => {
      await stored.insert({ _id: ID, email: 'e', nick: 'n' })
      expect(await clashOf(stored.insert({ _id: ID }))).toEqual(['_id'])
      expect(await clashOf(stored.insert({ _id: ID, nick: 'n', email: 'e' }))).toEqual([
        '_id',
        'email',
        'nick',
      ])
      const { _id } = await stored.insert({ note: 'one' })
      await stored.insert({ note: 'two' })
      const taken = { email: 'e', nick: 'n', team: 't' }
      expect(await clashOf(stored.update(_id, taken))).toEqual(['email', 'nick'])
      expect(await clashOf(stored.updateWhere({ note: 'one' }, taken))).toEqual(['email', 'nick'])
    })

    test('updateWhere that would give several records one value, alone or beside what they have', async () => {
      for (const [at, seat] of [1, 2, 2].entries()) {
        await stored.insert({ note: 'x', seat, team: `t${at}` })
      }
      const same = { email: 'new', nick: 'new' }
      expect(await clashOf(stored.updateWhere({ note: 'x' }, same))).toEqual(['email', 'nick'])
      const seated = stored.updateWhere({ note: 'x' }, { team: 'same' })
      expect(await clashOf(seated)).toEqual(['team', 'seat'])
    })
  })
}

/** A model of its own, and apps that serve it. */
function setting() {
  const Person = defineModel(`ClashPerson${crypto.randomUUID()}`, { fields, unique })
  return {
    collectionOf: (app: App) => app.store.collection<Fields>(Person as never),
    async make(store: Store): Promise<App> {
      const app = createApp({ store, logger: recordedLog(), now: () => NOON, env: {} })
      app.mount('/people', createRouter({ model: Person, blockedFields: [] }))
      await app.ready()
      return app
    },
  }
}
