import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { consume, runDue } from '../../src/background/changes/index.ts'
import { defineModel } from '../../src/index.ts'
import { apps } from './apps.ts'

const Task = defineModel('WarnedTask', { fields: { title: z.string() }, changes: true })

it('has one line a second of deliveries that fail alike, and says how many were left out', async () => {
  const { app: open, clock, log } = apps('2026-11-26T12:00:00Z')
  const app = open()
  const handle = ({ after }: { after: { title: string } | null }) =>
    Promise.reject(new Error(`no ${after?.title.length}`))
  consume(app, 'mailer', { models: [Task], handle, maxAttempts: 2 })
  await app.ready()
  const own = vi.spyOn(performance, 'now').mockReturnValue(5000)
  onTestFinished(() => own.mockRestore())
  for (let at = 0; at < 50; at += 1) await app.store.collection(Task).insert({ title: `t${at}` })
  await runDue(app)
  const lines = () => log.lines.filter(({ message }) => message.includes("Consumer 'mailer'"))
  expect(lines()).toMatchObject([
    { level: 'warn', details: { attempt: 1 } },
    { level: 'warn', details: { attempt: 1 } },
  ])
  clock.at += 1000
  await runDue(app)
  expect(lines().slice(2)).toMatchObject([
    { level: 'error', details: { attempt: 2 } },
    { level: 'error', details: { attempt: 2 } },
  ])
  own.mockReturnValue(6001)
  for (const title of ['t0', 't11']) await app.store.collection(Task).insert({ title })
  await runDue(app)
  expect(lines().slice(4)).toMatchObject([
    { level: 'warn', details: { failuresBefore: 9 } },
    { level: 'warn', details: { failuresBefore: 39 } },
  ])
  expect(await app.background[0]?.status()).toMatchObject({ waiting: 2, aside: 50 })
})
