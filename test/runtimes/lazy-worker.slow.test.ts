import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, expect, it } from 'vitest'
import { bundled } from '../http/workerd.ts'
import { Reading } from '../records/live/stream.ts'

// Frameworks load what a route imports with the first request for it.
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    script: await bundled(new URL('lazy-worker.ts', import.meta.url)),
    compatibilityDate: '2026-11-01',
    compatibilityFlags: ['nodejs_compat'],
    host: '127.0.0.1',
    port: 0,
    d1Databases: ['DB'],
  } as Parameters<typeof convertV4MiniflareOptions>[0]),
)
afterAll(() => miniflare.dispose())
const base = (await miniflare.ready).origin

it('a live list opens on Workers in other requests than the one that has loaded the app', async () => {
  expect((await fetch(`${base}/tasks`)).status).toBe(200)
  const list = new Reading(
    await fetch(`${base}/tasks`, { headers: { accept: 'text/event-stream' } }),
  )
  expect(await list.next()).toMatchObject({ event: 'records' })
  await list.cancel()
})

it('the scripts of the admin page can be read on Workers', async () => {
  const [, script] = /src="([^"]+)"/.exec(await (await fetch(`${base}/admin`)).text()) ?? []
  const response = await fetch(new URL(String(script), `${base}/admin`), {
    headers: { 'accept-encoding': 'gzip' },
  })
  expect(response.status).toBe(200)
  expect((await response.text()).slice(0, 100)).toMatch(/^import\{/)
})
