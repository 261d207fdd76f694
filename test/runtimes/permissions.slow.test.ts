import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { start } from '../http/runtimes.ts'
import { form, png } from '../uploads/png.ts'
import { FROM_SOURCE, RUNTIMES } from './commands.ts'

const fixture = fileURLToPath(new URL('permitted-fixture.ts', import.meta.url))

it('an app with files, accounts and probes needs no more of Deno than its page says', async () => {
  const page = await readFile(new URL('../../docs/deploy-deno.md', import.meta.url), 'utf8')
  const [, flags = ''] = /deno run ((?:--allow-\w+ )+)server\.ts/.exec(page) ?? []
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-permitted-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [deno = ''] = RUNTIMES.deno ?? []
  const run = [deno, 'run', FROM_SOURCE, '--quiet', '--no-prompt', ...flags.trim().split(' ')]
  const { base, stop } = await start([...run, fixture, folder])
  onTestFinished(stop)

  expect(await (await fetch(`${base}/readyz`)).json()).toMatchObject({ checks: { files: 'ok' } })
  const uploaded = await fetch(`${base}/books`, { method: 'POST', body: form({ cover: png }) })
  expect([uploaded.status, await uploaded.text()]).toEqual([201, expect.stringMatching(/\.png/)])
  const account = { email: 'ann@example.com', password: 'correct horse battery' }
  const headers = { 'Content-Type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(account) }
  expect((await fetch(`${base}/auth/register`, init)).status).toBe(201)
})
