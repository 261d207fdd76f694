/**
 * Hooks that judge a record, on any store: what they forbid never happens, no matter who writes at the same time.
 *
 * @module
 */

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  createRouter,
  defineModel,
  type Fields,
  HttpError,
  type RouterOptions,
  ref,
  type Store,
  type Values,
} from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { type Answer, type Service, service } from '../service.ts'

const TAKEN = 'Another request changed the record at the same time. Try again.'
/** Requests at once, half of them to each of two apps on the same records. */
const AT_ONCE = 20
const ROUNDS = runs(3)

const ticketFields = {
  status: z.enum(['open', 'waiting', 'closed']),
  note: z.string().optional(),
}
const Ticket = defineModel('HookTicket', { fields: ticketFields, timestamps: true })
type TicketOptions = Partial<RouterOptions<Values<typeof ticketFields>>>

const purseFields = { balance: z.int(), spent: z.int().optional() }
const Purse = defineModel('HookPurse', { fields: purseFields })
const spending: RouterOptions<Values<typeof purseFields>> = {
  model: Purse,
  middlewares: [],
  allowedFields: { create: ['balance'], update: ['spent'] },
  beforeUpdate({ record, changes }) {
    changes.balance = record.balance - (changes.spent ?? 0)
    if (changes.balance < 0) throw new HttpError(409, 'Not enough.')
  },
}

const vaultFields = { locked: z.boolean().default(false) }
const Vault = defineModel('HookVault', { fields: vaultFields })
const guarded: RouterOptions<Values<typeof vaultFields>> = {
  model: Vault,
  middlewares: [],
  allowedFields: ['locked'],
  beforeRemove({ record }) {
    if (record.locked) throw new HttpError(409, 'It is locked.')
  },
}

const collection = 'hook_shelves'
/** The same shelves before their `title` was called `label`. */
const OldShelf = defineModel('HookOldShelf', {
  collection,
  fields: { title: z.string(), locked: z.boolean().optional() },
})
const Shelf = defineModel('HookShelf', {
  collection,
  fields: { label: z.string(), locked: z.boolean().optional() },
  renamed: { title: 'label' },
})
const Box = defineModel('HookBox', {
  fields: { shelf: ref('HookShelf', { onDelete: 'cascade' }) },
})
const Seal = defineModel('HookSeal', {
  fields: { shelf: ref('HookShelf', { onDelete: 'restrict' }) },
})

/** Registers the suite; `open` opens a new database twice. */
export function hooks(name: string, open: () => readonly [Store, Store]): void {
  /** Two apps on one database, with the same routers. */
  function twoApps(mount: (served: Service) => void): readonly [Service, Service] {
    const [first, second] = open().map((store) => service({ store }))
    if (!first || !second) throw new TypeError('two stores are needed')
    mount(first)
    mount(second)
    return [first, second]
  }

  describe(`${name}: hooks that judge a record`, () => {
    test('a closed ticket that beforeUpdate keeps closed is never opened', async () => {
      const apps = twoApps(({ app }) =>
        app.mount(
          '/tickets',
          createRouter({
            model: Ticket,
            middlewares: [],
            allowedFields: ['status'],
            async beforeUpdate({ record, changes }) {
              // Others read the record before this one is written.
              await new Promise(setImmediate)
              const isReopened = record.status === 'closed' && changes.status !== 'closed'
              if (isReopened) throw new HttpError(409, 'A closed ticket stays closed.')
            },
          }),
        ),
      )
      for (let round = 0; round < ROUNDS; round += 1) {
        const { record } = await apps[0].send('POST', '/tickets', { json: { status: 'open' } })
        const path = `/tickets/${record._id}`
        const wanted = (at: number) =>
          at % 10 === 4 ? 'closed' : at % 2 === 0 ? 'open' : 'waiting'
        const answers = await atOnce(AT_ONCE, (at) => patch(apps, at, path, { status: wanted(at) }))
        expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
        const isClosed = answers.some(({ status }, at) => status === 200 && wanted(at) === 'closed')
        const { status } = (await apps[1].send('GET', path)).record
        if (isClosed) expect(status).toBe('closed')
        await patch(apps, round, path, { status: 'closed' })
        const reopened = await patch(apps, round, path, { status: 'open' })
        expect([reopened.status, reopened.body.error]).toEqual([
          409,
          'A closed ticket stays closed.',
        ])
      }
    })

    test('what beforeUpdate computes from the record adds up', async () => {
      const apps = twoApps(({ app }) => app.mount('/purses', createRouter(spending)))
      for (let round = 0; round < ROUNDS; round += 1) {
        const { record } = await apps[0].send('POST', '/purses', { json: { balance: 100 } })
        const path = `/purses/${record._id}`
        const answers = await atOnce(AT_ONCE, (at) => patch(apps, at, path, { spent: 7 }))
        const written = answers.filter(({ status }) => status === 200)
        const errors = answers.filter((one) => !written.includes(one)).map(({ body }) => body.error)
        expect([TAKEN, 'Not enough.']).toEqual(expect.arrayContaining([...new Set(errors)]))
        expect(written.length).toBeGreaterThan(0)
        const { balance } = (await apps[1].send('GET', path)).record
        expect(balance).toBe(100 - 7 * written.length)
        expect(balance).toBeGreaterThanOrEqual(0)
      }
    })

    test('each of many writers in one process gets its turn', async () => {
      const [{ app, send }] = twoApps((served) =>
        served.app.mount('/purses', createRouter(spending)),
      )
      const { _id } = await app.store.collection(Purse).insert({ balance: 1000 })
      const answers = await atOnce(4, () =>
        send('PATCH', `/purses/${_id}`, { json: { spent: 10 } }),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200))
      expect((await send('GET', `/purses/${_id}`)).record.balance).toBe(960)
    })

    test('afterUpdate sees a chain: each record is the one before the next', async () => {
      const steps: [unknown, unknown][] = []
      const apps = twoApps(({ app }) =>
        app.mount(
          '/tickets',
          createRouter({
            model: Ticket,
            middlewares: [],
            allowedFields: ['status', 'note'],
            afterUpdate: ({ before, record }) => void steps.push([before.note, record.note]),
          }),
        ),
      )
      const json = { status: 'open', note: 'first' }
      const { record } = await apps[0].send('POST', '/tickets', { json })
      const answers = await atOnce(12, (at) =>
        patch(apps, at, `/tickets/${record._id}`, { note: `n${at}` }),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
      const next = new Map(steps)
      const chain = ['first']
      while (next.has(chain.at(-1))) chain.push(String(next.get(chain.at(-1))))
      expect(new Set(chain).size).toBe(13)
    })

    test('a record that beforeRemove protects is not removed by a DELETE that races with the lock', async () => {
      const apps = twoApps(({ app }) => app.mount('/vaults', createRouter(guarded)))
      for (let round = 0; round < 20; round += 1) {
        const { record } = await apps[0].send('POST', '/vaults', { json: { locked: false } })
        const path = `/vaults/${record._id}`
        const [lock, removal] = await Promise.all([
          patch(apps, round, path, { locked: true }),
          apps[(round + 1) % 2 === 0 ? 0 : 1].send('DELETE', path),
        ])
        const left = await apps[0].send('GET', path)
        if (lock.status === 200) {
          expect([removal.status, removal.body.error]).toEqual([409, 'It is locked.'])
          expect(left.record.locked).toBe(true)
        } else {
          expect([lock.status, removal.status, left.status]).toEqual([404, 200, 404])
        }
      }
    })

    test('a record that changes each time that a hook judges it is a 409', async () => {
      let judged = 0
      const [{ app, send }] = twoApps((served) => {
        const stored = served.app.store.collection(Ticket)
        const disturb = async ({ record }: { readonly record: { readonly _id: string } }) => {
          judged += 1
          await stored.update(record._id, { note: `${judged}` })
        }
        const options: TicketOptions = { beforeUpdate: disturb, beforeRemove: disturb }
        const allowedFields = ['status'] as const
        served.app.mount(
          '/tickets',
          createRouter({ model: Ticket, middlewares: [], allowedFields, ...options }),
        )
      })
      const { _id } = await app.store.collection(Ticket).insert({ status: 'open' })
      const update = await send('PATCH', `/tickets/${_id}`, { json: { status: 'waiting' } })
      expect([update.status, update.body.error, judged]).toEqual([409, TAKEN, 2])
      const removal = await send('DELETE', `/tickets/${_id}`)
      expect([removal.status, removal.body.error, judged]).toEqual([409, TAKEN, 4])
      expect((await send('GET', `/tickets/${_id}`)).record).toMatchObject({
        status: 'open',
        note: '4',
      })
    })

    test('enforced references: what cascades goes, what restricts stays, under earlier names too', async () => {
      const removed: unknown[] = []
      const [store, other] = open()
      const earlier = service({ store: other }).app.store.collection(OldShelf)
      const { _id } = await earlier.insert({ title: 'a', locked: true })
      const { app, send } = service({ store })
      app.mount(
        '/shelves',
        createRouter({
          model: Shelf,
          middlewares: [],
          allowedFields: ['label', 'locked'],
          beforeRemove({ record }) {
            if (record.locked) throw new HttpError(409, `${record.label} is locked.`)
          },
          afterRemove: ({ record }) => void removed.push(record.label),
        }),
      )
      app.mount('/boxes', createRouter({ model: Box, middlewares: [], allowedFields: [] }))
      app.mount('/seals', createRouter({ model: Seal, middlewares: [], allowedFields: [] }))
      const boxes = app.store.collection(Box)
      await app.ready()
      await boxes.insert({ shelf: _id })
      const locked = await send('DELETE', `/shelves/${_id}`)
      expect([locked.status, locked.body.error, await boxes.count()]).toEqual([
        409,
        'a is locked.',
        1,
      ])
      // Not through the app, which would move the record to the names of now.
      await earlier.update(_id, { locked: false })
      const seal = await app.store.collection(Seal).insert({ shelf: _id })
      const held = await send('DELETE', `/shelves/${_id}`)
      expect([held.status, held.body.error]).toEqual([
        409,
        'Entry is still referenced by HookSeal.',
      ])
      await app.store.collection(Seal).delete(seal._id)
      expect(removed).toEqual([])
      expect((await send('DELETE', `/shelves/${_id}`)).status).toBe(200)
      expect([await boxes.count(), removed]).toEqual([0, ['a']])
    })
  })
}

function patch(
  apps: readonly [Service, Service],
  at: number,
  path: string,
  json: Fields,
): Promise<Answer> {
  return apps[at % 2 === 0 ? 0 : 1].send('PATCH', path, { json })
}

function atOnce(count: number, ask: (at: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => ask(at)))
}
