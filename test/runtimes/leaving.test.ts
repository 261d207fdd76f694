import { setImmediate as turnEnds } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { leaving } from '../../adapters/runtimes/leaving.ts'

test('responses of one turn of the event loop leave together at its end, in their order', async () => {
  const clients = leaving()
  const sent: string[] = []
  const send = async (name: string) =>
    sent.push(await (await clients.sent(new Response(name))).text())
  const all = [send('a'), send('b')]
  await Promise.resolve()
  all.push(send('c'))
  expect(sent).toEqual([])
  await Promise.all(all)
  expect(sent).toEqual(['a', 'b', 'c'])
})

test('before a server closes, responses say that they are the last of their connection', async () => {
  const clients = leaving()
  const closes = async () => (await clients.sent(new Response(''))).headers.get('connection')
  expect(await closes()).toBeNull()
  const begun = clients.begin(5)
  const late = closes()
  await turnEnds()
  expect(await late).toBe('close')
  await begun
  expect(await closes()).toBe('close')
})
