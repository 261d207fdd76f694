import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { expect, it, onTestFinished } from 'vitest'
import { bundled } from '../http/workerd.ts'
import { receiver } from './receiver.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** What miniflare's types leave out. */
interface Scheduled {
  scheduled(options: { readonly cron: string }): Promise<unknown>
}

it.each([
  ['a Worker', { d1Databases: ['DB'] }],
  ['a Durable Object', { durableObjects: { API: { className: 'Api', useSQLite: true } } }],
])('scheduled of %s runs jobs and consumers, and sends webhooks', async (_, bound) => {
  const own = await receiver(SECRET)
  onTestFinished(() => own.stop())
  const logged: string[] = []
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: await bundled(new URL('worker-fixture.ts', import.meta.url)),
      compatibilityDate: '2026-11-01',
      ...bound,
      bindings: { URL: own.url, SECRET },
      handleStructuredLogs: ({ message }) => void logged.push(message),
    }),
  )
  onTestFinished(() => miniflare.dispose())
  const seen = async () => {
    const response = await miniflare.dispatchFetch('http://localhost/seen?limit=50')
    return ((await response.json()) as { data: { what: string }[] }).data.map(({ what }) => what)
  }
  expect(await seen()).toEqual([])
  for (const title of ['a', 'b']) {
    const body = JSON.stringify({ title })
    const headers = { 'content-type': 'application/json' }
    await miniflare.dispatchFetch('http://localhost/tasks', { method: 'POST', headers, body })
  }
  const worker = (await miniflare.getWorker()) as unknown as Scheduled
  await expect
    .poll(async () => {
      await worker.scheduled({ cron: '* * * * *' })
      return (await seen()).toSorted().filter((what, at, all) => what !== all[at - 1])
    })
    .toEqual(['task a', 'task b', 'tick'])
  expect((await seen()).filter((what) => what.startsWith('task'))).toHaveLength(2)
  expect(own.received.map(({ body: { type, data } }) => `${type} ${data.title}`)).toEqual([
    'task.created a',
    'task.created b',
  ])
  expect(own.invalid.count).toBe(0)
  expect(logged.join('\n')).toContain("'127.0.0.1' leads to an address that is not public")
})
