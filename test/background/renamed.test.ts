import { expect, it } from 'vitest'
import * as z from 'zod'
import { consume, runDue } from '../../src/background/changes/index.ts'
import { defineModel } from '../../src/index.ts'
import { apps } from './apps.ts'

it('what an earlier version has held has the names that its fields have now', async () => {
  const its = apps('2026-11-26T12:00:00Z')
  const before = its.app()
  const Earlier = defineModel('Person', { fields: { surname: z.string() }, changes: true })
  consume(before, 'crm', {
    models: [Earlier],
    maxAttempts: 1,
    handle() {
      throw new Error('is down')
    },
  })
  await before.ready()
  const people = before.store.collection(Earlier)
  const { _id } = await people.insert({ surname: 'Beeblebrox' })
  await people.update(_id, { surname: 'Dent' })
  await runDue(before)
  await before.close()

  const app = its.app()
  const seen: unknown[] = []
  const Person = defineModel('Person', {
    fields: { lastName: z.string() },
    renamed: { surname: 'lastName' },
    changes: true,
  })
  consume(app, 'crm', {
    models: [Person],
    handle: ({ before, after }) => void seen.push([before?.lastName, after?.lastName]),
  })
  const [crm] = app.background
  await app.ready()
  expect(await crm?.retry?.()).toBe(2)
  await runDue(app)
  expect(seen).toEqual([
    [undefined, 'Beeblebrox'],
    ['Beeblebrox', 'Dent'],
  ])
})

it('what a version with more models has held waits for one that has them again', async () => {
  const its = apps('2026-11-26T12:00:00Z')
  const Person = defineModel('Person', { fields: { name: z.string() }, changes: true })
  const Order = defineModel('Order', { fields: { name: z.string() }, changes: true })
  const seen: string[] = []
  const open = (models: readonly (typeof Person | typeof Order)[], isDown = false) => {
    const app = its.app()
    consume(app, 'crm', {
      models,
      maxAttempts: 2,
      handle({ model, after }) {
        if (isDown) throw new Error('is down')
        seen.push(`${model} ${after?.name}`)
      },
    })
    return app
  }
  const both = open([Person, Order], true)
  await both.ready()
  await both.store.collection(Order).insert({ name: 'held' })
  await runDue(both)
  await both.close()

  const fewer = open([Person])
  await fewer.store.collection(Person).insert({ name: 'Dent' })
  its.clock.at += 10_000
  await runDue(fewer)
  expect(seen).toEqual(['Person Dent'])
  const [held] = fewer.background
  expect(await held?.status()).toMatchObject({
    aside: 1,
    examples: [
      { error: expect.stringContaining("consumer 'crm': 'Order' is none of its 'models'") },
    ],
  })
  await fewer.close()

  const again = open([Person, Order])
  await again.ready()
  expect(await again.background[0]?.retry?.()).toBe(1)
  await runDue(again)
  expect(seen).toEqual(['Person Dent', 'Order held'])
})
