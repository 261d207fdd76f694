import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { batch } from '../../src/batch/index.ts'
import { createRouter, defineModel, HttpError } from '../../src/index.ts'
import { service } from '../records/service.ts'

const Account = defineModel('BatchAccount', {
  fields: { owner: z.string(), public: z.boolean().default(false), balance: z.number().int() },
})

/** Accounts whose balance never falls below 0, and that are removed only when they are empty. */
function bank() {
  const events: string[] = []
  const made = service()
  made.app
    .mount(
      '/accounts',
      createRouter({
        model: Account,
        middlewares: [],
        allowedFields: ['balance', 'public'],
        access: {
          create: (request) => {
            if (!request.headers.has('x-staff')) throw new HttpError(403, 'Staff only.')
          },
        },
        scope: {
          read: () => ({ or: [{ owner: 'me' }, { public: true }] }),
          write: () => ({ owner: 'me' }),
        },
        beforeUpdate({ record, changes }) {
          if ((changes.balance ?? record.balance) < 0) throw new HttpError(409, 'Not enough money.')
        },
        beforeRemove({ record }) {
          if (record.balance !== 0) throw new HttpError(409, 'Not empty.')
        },
        afterUpdate: ({ before, record }) => {
          events.push(`${before.balance} to ${record.balance}`)
        },
        afterRemove: ({ record }) => {
          events.push(`removed at ${record.balance}`)
        },
      }),
    )
    .mount('/closed', createRouter({ model: Account, middlewares: [], access: { update: false } }))
    .mount('/batch', batch())
  const send = (operations: readonly object[], headers = {}) =>
    made.send('POST', '/batch', { json: { operations }, headers })
  const insert = async (balance: number, owner = 'me') =>
    String((await made.app.store.collection(Account).insert({ owner, balance }))._id)
  return { ...made, events, batch: send, insert }
}

describe('the rules of a router, in a batch', () => {
  it('let hooks judge what earlier operations have made of a record', async () => {
    const { batch, insert, events, app } = bank()
    const path = `/accounts/${await insert(5)}`
    const done = await batch([
      { method: 'PATCH', path, body: { balance: 0 } },
      { method: 'DELETE', path },
    ])
    expect(done.status).toBe(200)
    expect(events).toEqual(['5 to 0', 'removed at 0'])
    expect(await app.store.collection(Account).count()).toBe(0)
  })

  it('refuse the whole batch, and no hook runs after it', async () => {
    const { batch, insert, events, app } = bank()
    const [one, other] = [await insert(5), await insert(5)]
    const refused = await batch([
      { method: 'PATCH', path: `/accounts/${one}`, body: { balance: 10 } },
      { method: 'PATCH', path: `/accounts/${other}`, body: { balance: -1 } },
    ])
    expect(refused.body).toMatchObject({ error: 'Not enough money.', operation: 1 })
    expect(refused.status).toBe(409)
    expect(events).toEqual([])
    expect((await app.store.collection(Account).find()).map(({ balance }) => balance)).toEqual([
      5, 5,
    ])
  })

  it('keep what may be written apart from what may be read', async () => {
    const { batch, insert, app } = bank()
    const theirs = await insert(5, 'them')
    await app.store.collection(Account).update(theirs, { public: true })
    const foreign = await batch([
      { method: 'PATCH', path: `/accounts/${theirs}`, body: { balance: 6 } },
    ])
    expect(foreign).toMatchObject({ status: 404, body: { operation: 0 } })
    const created = await batch(
      [{ method: 'POST', path: '/accounts', body: { balance: 1, owner: 'them' } }],
      { 'x-staff': '1' },
    )
    expect(created.body.data).toMatchObject([{ status: 201, body: { data: { owner: 'me' } } }])
  })

  it('ask the guards of each route, and know the routes that there are not', async () => {
    const { batch, insert } = bank()
    const guarded = await batch([{ method: 'POST', path: '/accounts', body: { balance: 1 } }])
    expect(guarded.body).toMatchObject({ error: 'Staff only.', operation: 0 })
    const closed = await batch([
      { method: 'PATCH', path: `/closed/${await insert(1)}`, body: { balance: 2 } },
    ])
    expect(closed).toMatchObject({ status: 405, body: { operation: 0 } })
  })
})
