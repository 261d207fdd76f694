import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import {
  type Collections,
  createRouter,
  defineModel,
  HttpError,
  ref,
  type Store,
} from '../../src/index.ts'
import { DuplicateKey } from '../../src/ports/store/store-errors.ts'
import { service } from '../records/service.ts'

const Account = defineModel('StepAccount', {
  fields: {
    owner: z.string(),
    balance: z.number(),
    tags: z.array(z.string()).default([]),
    code: z.string().optional(),
  },
  unique: ['owner', 'code'],
})
const Payment = defineModel('StepPayment', {
  fields: { account: ref('StepAccount', { onDelete: 'restrict' }), amount: z.number() },
})

function bank(store: Store = sqliteStore()) {
  const { app, ...rest } = service({ store })
  const accounts = app.store.collection(Account)
  const payments = app.store.collection(Payment)
  return { app, accounts, payments, ...rest }
}

const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error instanceof HttpError
    ? {
        status: error.status,
        message: error.message,
        ...(error.fields && { fields: error.fields }),
      }
    : error
}

describe('an atomic step', () => {
  it('sees its own writes, which nobody else sees before all of them are stored', async () => {
    const { app, accounts, payments } = bank()
    const { _id } = await accounts.insert({ owner: 'a', balance: 10 })
    const told = await app.store.atomic(async (tx) => {
      const own = tx.collection(Account)
      const added = await own.insert({ owner: 'b', balance: 1 })
      await own.update(_id, { balance: 5, tags: ['x'] })
      await tx.collection(Payment).insert({ account: added._id, amount: 5 })
      expect(await own.findById(_id)).toMatchObject({ balance: 5, tags: ['x'] })
      expect(await own.find({ balance: { lt: 9 } }, { sort: '-owner' })).toMatchObject([
        { owner: 'b' },
        { owner: 'a' },
      ])
      expect(await own.count()).toBe(2)
      expect(await own.aggregate({ count: true, sum: ['balance'] })).toEqual([
        { count: 2, sum: { balance: 6 } },
      ])
      expect(await own.updateWhere({ owner: ['a', 'b'] }, { balance: 7 })).toBe(2)
      expect(await tx.collection(Payment).count({ account: added._id })).toBe(1)
      expect(await accounts.find()).toMatchObject([{ balance: 10, tags: [] }])
      expect(await payments.count()).toBe(0)
      return { id: added._id }
    })
    expect(await accounts.findById(told.id)).toMatchObject({ owner: 'b', balance: 7 })
    expect(await accounts.findById(_id)).toMatchObject({ balance: 7, tags: ['x'] })
    expect(await payments.count({ account: told.id })).toBe(1)
  })

  it('writes nothing if it throws', async () => {
    const { app, accounts } = bank()
    const { _id } = await accounts.insert({ owner: 'a', balance: 10 })
    const error = new Error('no')
    const step = app.store.atomic(async (tx) => {
      await tx.collection(Account).delete(_id)
      await tx.collection(Account).insert({ owner: 'b', balance: 1 })
      throw error
    })
    await expect(step).rejects.toBe(error)
    expect(await accounts.find()).toMatchObject([{ _id, balance: 10 }])
  })

  it('runs again if what it has read one by one has changed, three times at most', async () => {
    const { app, accounts } = bank()
    const { _id } = await accounts.insert({ owner: 'a', balance: 10 })
    const readers: ((tx: Collections) => Promise<unknown>)[] = [
      (tx) => tx.collection(Account).findById(_id),
      (tx) => tx.collection(Account).findOne({ owner: 'a' }),
      (tx) => tx.collection(Account).find({ _id }, { select: ['owner'] }),
    ]
    for (const read of readers) {
      for (const changes of [1, 2, 3]) {
        const before = (await accounts.findById(_id))?.balance ?? 0
        let runs = 0
        const step = app.store.atomic(async (tx) => {
          runs += 1
          await read(tx)
          const [found] = await tx.collection(Account).find({ owner: 'a' })
          if (runs <= changes) await accounts.update(_id, { balance: before + runs })
          await tx.collection(Account).insert({ owner: `${crypto.randomUUID()}`, balance: 0 })
          return found?.balance
        })
        if (changes < 3) {
          expect(await step).toBe(before + changes)
        } else {
          expect(await refusal(step)).toEqual({
            status: 409,
            message: 'Another request changed the record at the same time. Try again.',
          })
        }
        expect(runs).toBe(Math.min(3, changes + 1))
      }
    }
  })

  it('runs again if it throws because it has seen a half of what another has written', async () => {
    const { app, accounts } = bank()
    const [a, b] = [
      await accounts.insert({ owner: 'a', balance: 1 }),
      await accounts.insert({ owner: 'b', balance: 1 }),
    ]
    let runs = 0
    const step = app.store.atomic(async (tx) => {
      runs += 1
      const first = await tx.collection(Account).findById(a._id)
      if (runs === 1) {
        await app.store.atomic(async (other) => {
          await other.collection(Account).update(a._id, { balance: 2 })
          await other.collection(Account).update(b._id, { balance: 2 })
        })
      }
      const second = await tx.collection(Account).findById(b._id)
      if (first?.balance !== second?.balance) throw new Error('they differ')
      return first?.balance
    })
    expect(await step).toBe(2)
    expect(runs).toBe(2)
  })

  it.each(['returns', 'throws'])(
    'runs again if it reads a record twice, finds another one, and %s',
    async (end) => {
      const { app, accounts } = bank()
      const { _id } = await accounts.insert({ owner: 'a', balance: 1 })
      let runs = 0
      const step = app.store.atomic(async (tx) => {
        runs += 1
        const first = await tx.collection(Account).findById(_id)
        if (runs === 1) await accounts.update(_id, { balance: 2 })
        const second = await tx.collection(Account).findOne({ owner: 'a' })
        const seen = [first?.balance, second?.balance]
        if (end === 'throws') throw new Error(seen.join())
        return seen.join()
      })
      expect(await step.catch(({ message }: Error) => message)).toBe('2,2')
      expect(runs).toBe(2)
    },
  )

  it.each(['update', 'delete'] as const)(
    'runs again if it has found a record that its %s does not',
    async (write) => {
      const { app, accounts } = bank()
      const { _id } = await accounts.insert({ owner: 'a', balance: 1 })
      let runs = 0
      const told = await app.store.atomic(async (tx) => {
        runs += 1
        const own = tx.collection(Account)
        const found = await own.findById(_id)
        if (runs === 1) await accounts.delete(_id)
        const written = await own[write](_id, { balance: 2 })
        return found && !written ? 'half' : found
      })
      expect([told, runs]).toEqual([null, 2])
    },
  )

  it('runs again if a record appears that it did not find', async () => {
    const { app, accounts } = bank()
    let runs = 0
    const found = await app.store.atomic(async (tx) => {
      runs += 1
      const one = await tx.collection(Account).findOne({ balance: 42 })
      if (runs === 1) await accounts.insert({ owner: 'other', balance: 42 })
      if (!one) await tx.collection(Account).insert({ owner: 'own', balance: 42 })
      return one
    })
    expect(found).toMatchObject({ owner: 'other' })
    expect(await accounts.count()).toBe(1)
  })

  it('is not disturbed by changes of what it has not read, or read as a list', async () => {
    const { app, accounts } = bank()
    const { _id } = await accounts.insert({ owner: 'a', balance: 10 })
    const { _id: other } = await accounts.insert({ owner: 'b', balance: 10 })
    let runs = 0
    await app.store.atomic(async (tx) => {
      runs += 1
      await tx.collection(Account).find({ balance: 10 })
      await tx.collection(Account).findById(_id)
      await accounts.update(other, { balance: 11 })
      await tx.collection(Account).update(_id, { balance: 12 })
    })
    expect(runs).toBe(1)
    expect(await accounts.find({}, { sort: 'owner' })).toMatchObject([
      { balance: 12 },
      { balance: 11 },
    ])
  })

  it('refuses what a write alone would be refused for, and then writes nothing', async () => {
    const { app, accounts, payments } = bank()
    const { _id } = await accounts.insert({ owner: 'a', balance: 10 })
    await payments.insert({ account: _id, amount: 1 })
    const doing = (work: (tx: Collections) => Promise<unknown>) =>
      refusal(
        app.store.atomic(async (tx) => {
          await tx.collection(Account).insert({ owner: 'first', balance: 0 })
          await work(tx)
        }),
      )
    const taken = {
      status: 409,
      message: 'Duplicate value for: owner.',
      fields: { owner: 'Already exists.' },
    }
    expect(await doing((tx) => tx.collection(Account).insert({ owner: 'a', balance: 1 }))).toEqual(
      taken,
    )
    // A database names one of them, each another.
    expect(
      await doing((tx) => tx.collection(Account).insert({ _id, owner: 'a', balance: 1 })),
    ).toMatchObject({ status: 409, fields: { _id: 'Already exists.' } })
    expect(await doing((tx) => tx.collection(Account).update(_id, { owner: 'first' }))).toEqual(
      taken,
    )
    expect(
      await doing((tx) => tx.collection(Payment).insert({ account: '0'.repeat(24), amount: 1 })),
    ).toMatchObject({ status: 400, fields: { account: 'Does not exist.' } })
    expect(await doing((tx) => tx.collection(Account).delete(_id))).toMatchObject({
      status: 409,
      message: 'Entry is still referenced by StepPayment.',
    })
    expect(
      await doing((tx) => tx.collection(Account).insert({ owner: 'x' } as never)),
    ).toMatchObject({ status: 400 })
    expect(await accounts.find()).toMatchObject([{ owner: 'a', balance: 10 }])
  })

  it('refuses what is unique for another version of the app, as a write alone does', async () => {
    const store = sqliteStore()
    await bank(store).accounts.insert({ owner: 'a', balance: 0 })
    const collection = 'stepaccounts'
    const Later = defineModel('StepLater', { collection, fields: { owner: z.string() } })
    const { app } = service({ store })
    const taken = { status: 409, message: 'Duplicate value for: owner.' }
    const insert = (all: Collections) => all.collection(Later).insert({ owner: 'a' })
    expect(await refusal(insert(app.store))).toMatchObject(taken)
    expect(await refusal(app.store.atomic(insert))).toMatchObject(taken)
  })

  it('names values that the database alone takes for equal, as by a collation', async () => {
    const store = sqliteStore()
    const { app } = bank({
      ...store,
      write: async (steps) => {
        if (steps.some((step) => 'insert' in step)) throw new DuplicateKey(['owner'])
        return store.write?.(steps) ?? { failed: 0 }
      },
    })
    const work = app.store.atomic((tx) => tx.collection(Account).insert({ owner: 'A', balance: 0 }))
    expect(await refusal(work)).toMatchObject({ message: 'Duplicate value for: owner.' })
  })

  it('says that an id is taken, whatever the step has done with its record', async () => {
    const { app, accounts } = bank()
    const { _id } = await accounts.insert({ owner: 'a', balance: 10 })
    const own = { _id, owner: 'a', balance: 1 }
    const doing = (work: (tx: Collections) => Promise<unknown>) => refusal(app.store.atomic(work))
    const taken = { status: 409, fields: { _id: 'Already exists.' } }
    const changed = doing(async (tx) => {
      await tx.collection(Account).update(_id, { balance: 2 })
      await tx.collection(Account).insert(own)
    })
    expect(await changed).toMatchObject(taken)
    const twice = doing(async (tx) => {
      await tx.collection(Account).insert({ ...own, _id: '1'.repeat(24), owner: 'b' })
      await tx.collection(Account).insert({ ...own, _id: '1'.repeat(24), owner: 'b' })
    })
    expect(await twice).toMatchObject(taken)
    await app.store.collection(Payment).insert({ _id, account: _id, amount: 1 })
    const ofTwo = doing(async (tx) => {
      await tx.collection(Payment).delete(_id)
      await tx.collection(Account).insert(own)
    })
    expect(await ofTwo).toMatchObject(taken)
    await app.store.collection(Payment).delete(_id)
    await app.store.atomic(async (tx) => {
      await tx.collection(Account).delete(_id)
      await tx.collection(Account).insert(own)
    })
    expect(await accounts.find()).toMatchObject([own])
  })

  it('writes what it has made, whatever its code does to the values afterwards', async () => {
    const { app, accounts } = bank()
    const tags = ['x']
    await app.store.atomic(async (tx) => {
      const made = await tx.collection(Account).insert({ owner: 'a', balance: 1, tags })
      tags.push('y')
      ;(made.tags as string[]).push('z')
      const found = await tx.collection(Account).findById(made._id)
      found?.tags.push('w')
    })
    expect(await accounts.find()).toMatchObject([{ tags: ['x'] }])
  })

  it('takes writes that are made at once, and none after its end', async () => {
    const { app, accounts } = bank()
    const { _id } = await accounts.insert({ owner: 'a', balance: 0 })
    const kept = await app.store.atomic(async (tx) => {
      const own = tx.collection(Account)
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => own.insert({ owner: `o${at}`, balance: at })),
      )
      await Promise.all([own.update(_id, { balance: 3 }), own.update(_id, { tags: ['t'] })])
      return own
    })
    expect(await accounts.count()).toBe(21)
    expect(await accounts.findById(_id)).toMatchObject({ balance: 3, tags: ['t'] })
    await expect(kept.update(_id, { balance: 4 })).rejects.toThrow('the atomic step is over')
  })

  it('has at most 1,000 writes', async () => {
    const { app, accounts } = bank()
    const inserting = (count: number) =>
      app.store.atomic(async (tx) => {
        for (let at = 0; at < count; at += 1) {
          await tx.collection(Account).insert({ owner: `${count} ${at}`, balance: 0 })
        }
      })
    await inserting(1000)
    await expect(inserting(1001)).rejects.toThrow("can't write more than 1000 records")
    const all = app.store.atomic((tx) => tx.collection(Account).updateWhere({}, { balance: 1 }))
    expect(await all).toBe(1000)
    expect(await accounts.count({ balance: 1 })).toBe(1000)
  })

  it('rejects on a store that does not write several records in one step', async () => {
    const { write: _, ...alone } = sqliteStore()
    const { guards: __, ...unguarded } = sqliteStore()
    for (const store of [alone, unguarded]) {
      const step = bank(store).app.store.atomic(async () => 'done')
      await expect(step).rejects.toThrow(TypeError)
      await expect(step).rejects.toThrow("the store 'sqlite'")
    }
  })

  it('is there in hooks and guards, whose last argument is the context', async () => {
    const { app, accounts, send } = bank()
    const seen: string[] = []
    const router = createRouter({
      model: Account,
      middlewares: [],
      validate: (_, { operation }, { store }) => void seen.push(`validate ${operation} ${!!store}`),
      onGet: (_, { store }) => void seen.push(`onGet ${!!store}`),
      runAfterCreate: (record, _, { store }) =>
        store.atomic(async (tx) => {
          const own = await tx.collection(Account).findById(record._id)
          await tx.collection(Account).update(record._id, { balance: (own?.balance ?? 0) + 1 })
        }),
      beforeUpdate: async ({ record }, { store }) => {
        seen.push(`beforeUpdate ${await store.collection(Account).count({ owner: record.owner })}`)
      },
      afterUpdate: (_, { store }) => void seen.push(`afterUpdate ${!!store}`),
      beforeRemove: (_, { store }) => void seen.push(`beforeRemove ${!!store}`),
      afterRemove: (_, { waitUntil }) => void seen.push(`afterRemove ${typeof waitUntil}`),
    })
    app.mount('/accounts', router).mount('/batch', batch())
    const created = await send('POST', '/accounts', { json: { owner: 'a', balance: 1 } })
    expect(created.status).toBe(201)
    const path = `/accounts/${created.record._id}`
    expect(await accounts.find()).toMatchObject([{ balance: 2 }])
    await send('GET', path)
    await send('PATCH', path, { json: { tags: ['x'] } })
    const operations = [{ method: 'PATCH', path, body: { tags: [] } }]
    expect((await send('POST', '/batch', { json: { operations } })).status).toBe(200)
    await send('DELETE', path)
    const update = ['validate update true', 'beforeUpdate 1', 'afterUpdate true', 'onGet true']
    expect(seen).toEqual([
      ...['validate create true', 'onGet true'],
      ...[...update, ...update],
      ...['beforeRemove true', 'afterRemove function'],
    ])
  })
})
