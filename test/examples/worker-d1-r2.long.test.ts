import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { expect, it, onTestFinished } from 'vitest'
import { bundled } from '../http/workerd.ts'
import { form, png } from '../uploads/png.ts'
import { sender } from './run.ts'

it('examples/worker-d1-r2.ts keeps photos in R2 and opens them by links', async () => {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: await bundled(new URL('../../examples/worker-d1-r2.ts', import.meta.url)),
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      d1Databases: ['DB'],
      r2Buckets: ['FILES'],
      bindings: { SECRET: 'for tests, and longer than 32 characters' },
    }),
  )
  onTestFinished(() => miniflare.dispose())
  const base = (await miniflare.ready).origin
  const send = sender(base, fetch)
  expect((await send('POST', '/photos', form({ title: 'Delft', image: png }))).status).toBe(201)
  expect((await send('POST', '/photos', { title: 'No file' })).status).toBe(400)
  const { body } = await send('GET', '/photos?s=delf')
  expect(body.data).toMatchObject([{ title: 'Delft' }])
  const link = new URL(body.data[0].image, base)
  const response = await fetch(link)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(png)
  link.search = ''
  expect((await fetch(link)).status).toBe(403)
})

it('examples/worker-d1-r2.toml is what wrangler takes', async () => {
  const out = mkdtempSync(join(tmpdir(), 'fieldgate-worker-'))
  onTestFinished(() => rmSync(out, { recursive: true, force: true }))
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const config = ['--config', 'examples/worker-d1-r2.toml', '--dry-run', '--outdir', out]
  const deploy = ['run', '--silent', 'wrangler', '--', 'deploy', ...config]
  const { stdout } = await promisify(execFile)('npm', deploy, {
    cwd: root,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
  })
  expect(stdout).toContain('env.DB')
  expect(stdout).toContain('env.FILES')
})
