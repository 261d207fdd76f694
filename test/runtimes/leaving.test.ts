import { setImmediate as turnEnds } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { leaving } from '../../adapters/runtimes/leaving.ts'

test('where turns of the event loop have several responses, those of one leave together at its end', async () => {
  const clients = leaving()
  const sent: string[] = []
  const send = async (name: string) =>
    sent.push(await (await clients.sent(new Response(name))).text())
  await Promise.all([send('a'), send('b')])
  await turnEnds()
  const all = [send('c'), send('d')]
  for (let step = 0; step < 100; step += 1) await Promise.resolve()
  all.push(send('e'))
  expect(sent).toEqual(['a', 'b'])
  await Promise.all(all)
  expect(sent).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('a response that is alone leaves at once', async () => {
  const clients = leaving()
  let hasEnded = false
  for (const name of ['a', 'b']) {
    hasEnded = false
    void turnEnds().then(() => {
      hasEnded = true
    })
    expect(await clients.sent(new Response(name))).toBeInstanceOf(Response)
    expect(hasEnded).toBe(false)
    await turnEnds()
  }
})

test('before a server closes, responses say that they are the last of their connection', async () => {
  const clients = leaving()
  const closes = async () => (await clients.sent(new Response(''))).headers.get('connection')
  expect(await closes()).toBeNull()
  const begun = clients.begin(5)
  expect(await closes()).toBe('close')
  await begun
  expect(await closes()).toBe('close')
})
