import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { expect, it, onTestFinished } from 'vitest'
import { bundled } from '../../http/workerd.ts'
import { Reading } from './stream.ts'

/** A Worker whose streams may read the log `queries` times. */
async function started(queries?: number) {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: await bundled(new URL('./live-worker.ts', import.meta.url)),
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      host: '127.0.0.1',
      port: 0,
      d1Databases: ['DB'],
      bindings: queries === undefined ? {} : { QUERIES: queries },
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  )
  const tasks = `${(await miniflare.ready).origin}/tasks`
  const add = (title: string) =>
    fetch(tasks, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title }),
    })
  const listen = async (headers: Record<string, string> = {}) =>
    new Reading(await fetch(tasks, { headers: { accept: 'text/event-stream', ...headers } }))
  onTestFinished(() => miniflare.dispose())
  return { add, listen }
}

it('a live list on Workers tells of writes of other requests, and goes on after a break', async () => {
  const { add, listen } = await started()
  expect((await add('before')).status).toBe(201)
  const first = await listen()
  expect(await first.next()).toMatchObject({
    event: 'records',
    data: { data: [{ title: 'before' }] },
  })
  await add('during')
  const told = await first.next()
  expect(told).toMatchObject({ event: 'set', data: { data: { title: 'during' } } })
  await first.cancel()
  await add('after')
  const second = await listen({ 'last-event-id': told?.id ?? '' })
  expect(await second.next()).toMatchObject({ event: 'set', data: { data: { title: 'after' } } })
  await second.cancel()
})

it('a live list on Workers ends when its request may send no more queries', async () => {
  const { listen } = await started(4)
  const stream = await listen()
  expect(await stream.next()).toMatchObject({ event: 'records' })
  expect(await stream.next()).toMatchObject({ event: 'end', data: { status: 500 } })
})
