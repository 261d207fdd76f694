import { expect, it, onTestFinished, vi } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { club, Tool } from '../../../examples/lending-club/club.ts'
import { runDue } from '../../../src/background/jobs/index.ts'
import { lastDefined } from '../../../src/model/model.ts'
import { received, SECRET } from '../../background/sending.ts'
import { sender } from '../run.ts'

const noon = (day: number) => new Date(Date.UTC(2030, 0, day, 12))

it('members of the lending club are reminded each morning, and another server hears of loans', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: noon(4) })
  onTestFinished(() => void vi.useRealTimers())
  const receiver = await received(SECRET)
  const mails: { readonly to: string; readonly text: string }[] = []
  const app = club({
    ...{ store: sqliteStore(), files: {} as never, secret: 'x'.repeat(32) },
    mail: { sender: (mail) => void mails.push(mail) },
    hooks: [{ url: receiver.url, secret: SECRET, models: ['Loan'] }],
    allowPrivate: true,
  })
  onTestFinished(() => app.close())
  await runDue(app)
  const { store } = app
  const send = sender('http://club.example', (url, init) => app.handle(new Request(url, init)))
  const identifier = 'ann@example.com'
  await send('POST', '/auth/login/code', { identifier })
  await expect.poll(() => mails).toHaveLength(1)
  const otp = /\d{6}/.exec(mails[0]?.text ?? '')?.[0]
  const { body } = await send('POST', '/auth/login', { identifier, otp })
  const headers = { Authorization: `Bearer ${body.data.token}` }
  const saw = await store.collection(Tool).insert({ name: 'Saw', kind: 'saw' })
  const dates = { from: noon(5), to: noon(6) }
  const booked = await send('POST', '/loans/book', { tool: saw._id, ...dates }, headers)
  expect(booked.status).toBe(200)
  const users = store.collection<{ role: string }>(lastDefined('User') as never)
  await users.updateWhere({}, { role: 'librarian' })
  const { _id } = booked.body.data
  const lent = await send('POST', `/loans/${_id}/status`, { status: 'lent' }, headers)
  expect(lent.status).toBe(200)
  await runDue(app)
  const types = () => receiver.received.map(({ body: { type, data } }) => [type, data.status])
  await expect.poll(types).toEqual([
    ['loan.created', 'booked'],
    ['loan.updated', 'lent'],
  ])

  const reminded = () => mails.filter(({ text }) => text.includes('bring it back: Saw'))
  vi.setSystemTime(noon(6))
  await runDue(app)
  expect(reminded()).toEqual([])
  vi.setSystemTime(noon(7))
  await runDue(app)
  expect(reminded()).toMatchObject([{ to: identifier }])
  await runDue(app)
  expect(reminded()).toHaveLength(1)
})
