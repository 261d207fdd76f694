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
