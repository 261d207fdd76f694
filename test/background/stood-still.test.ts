/** A process that stood still, such as a machine that slept, while another one took over what it had. */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { consume, runDue } from '../../src/background/changes/index.ts'
import { type App, defineModel, type Model } from '../../src/index.ts'
import { apps } from './apps.ts'

const Task = defineModel('SleptTask', { fields: { title: z.string() }, changes: true })
const Note = defineModel('SleptNote', { fields: { title: z.string() }, changes: true })
type Titled = typeof Task

/** A process whose first calls wait, and one that takes over; both have the consumer. */
function pair(models: readonly Titled[], concurrency: number) {
  const { app, clock } = apps('2026-11-26T12:00:00Z')
  const woken = Promise.withResolvers<void>()
  const calls: string[] = []
  const process = async (name: string, wait?: Promise<void>, of: readonly Titled[] = models) => {
    const one: App = app()
    for (const model of [Task, Note] as readonly Model[]) one.store.collection(model as Titled)
    consume(one, 'index', {
      ...{ models: of as readonly [Titled], concurrency },
      handle({ after }) {
        calls.push(`${name} ${after?.title}`)
        // The first batch of a process is small.
        return after?.title.startsWith('first') ? undefined : wait
      },
    })
    await one.ready()
    return one
  }
  return { process, calls, woken, sleep: () => (clock.at += 21_000) }
}

it('begins nothing more, though its calls end together', async () => {
  const { process, calls, woken, sleep } = pair([Task], 6)
  const slept = await process('slept', woken.promise)
  const titles = ['first a', 'first b', 'first c', ...'defghijklmno']
  for (const title of titles) await slept.store.collection(Task).insert({ title })
  const running = runDue(slept)
  await expect.poll(() => calls).toEqual(titles.slice(0, 9).map((title) => `slept ${title}`))
  sleep()
  await runDue(await process('other'))
  expect(calls.slice(9)).toEqual(titles.slice(3).map((title) => `other ${title}`))
  woken.resolve()
  await running
  expect(calls.slice(21)).toEqual([])
})

it('leaves a model that was added where the other process is with it', async () => {
  const { process, calls, woken, sleep } = pair([Task, Note], 1)
  const old = await process('old', undefined, [Task])
  const slept = await process('slept', woken.promise)
  for (const title of 'abc') await old.store.collection(Note).insert({ title })
  await old.store.collection(Task).insert({ title: 'task' })
  await runDue(old)
  const running = runDue(slept)
  await expect.poll(() => calls).toEqual(['old task', 'slept a'])
  sleep()
  const other = await process('other')
  await runDue(other)
  expect(calls.slice(2)).toEqual(['other a', 'other b', 'other c'])
  woken.resolve()
  await running
  await other.store.collection(Note).insert({ title: 'd' })
  await runDue(other)
  expect(calls.slice(5)).toEqual(['other d'])
})
