import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { expect, it, onTestFinished } from 'vitest'
import { bundled } from '../http/workerd.ts'

it('a Durable Object serves records of an earlier model, which it backfills when it starts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-objects-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const script = await bundled(new URL('backfill-worker.ts', import.meta.url))
  const start = (version: string) =>
    new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script,
        compatibilityDate: '2026-11-01',
        durableObjects: { API: { className: 'Api', useSQLite: true } },
        resourcePersistencePath: folder,
        bindings: { VERSION: version },
      }),
    )
  const old = start('before')
  for (const name of ['a', 'b']) {
    const body = JSON.stringify({ name })
    const headers = { 'Content-Type': 'application/json' }
    const created = await old.dispatchFetch('http://x/books', { method: 'POST', headers, body })
    expect(created.status).toBe(201)
  }
  await old.dispose()
  const now = start('after')
  onTestFinished(() => now.dispose())
  const listed = await now.dispatchFetch('http://x/books?language=en')
  expect(await listed.json()).toMatchObject({
    data: [
      { title: 'a', language: 'en' },
      { title: 'b', language: 'en' },
    ],
  })
})
