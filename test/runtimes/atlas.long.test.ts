import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { ConfigError, readConfig } from '../../examples/atlas/config.ts'
import { freePorts } from '../services/server.ts'
import { FROM_SOURCE } from './commands.ts'

const MAIN = fileURLToPath(new URL('../../examples/atlas/main.ts', import.meta.url))

const SEE = ' See examples/atlas/.env.example.'

/** How the atlas ends, and what it says, where it cannot start. */
async function failed(env: Readonly<Record<string, string>>): Promise<[number, string]> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-atlas-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const child = spawn(
    process.execPath,
    [FROM_SOURCE, '--disable-warning=ExperimentalWarning', MAIN],
    {
      env: { PATH: process.env.PATH, ATLAS_DB: join(folder, 'atlas.db'), ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const [code] = (await once(child, 'close')) as [number]
  return [code, said]
}

const noNumber = { PORT: 'abc' }

it.each([
  [noNumber, `PORT must be a whole number from 0 to 65535.${SEE}`],
  [{ PORT: '70000' }, `PORT must be a whole number from 0 to 65535.${SEE}`],
  [{ TRUST_PROXY: '-1' }, `TRUST_PROXY must be a whole number from 0 to 10.${SEE}`],
  [{ DATABASE_URL: 'mysql://db' }, `DATABASE_URL must start with postgres:// or mongodb://.${SEE}`],
  [{ REDIS_URL: 'valkey:6379' }, `REDIS_URL must start with redis:// or rediss://.${SEE}`],
  [{ S3_BUCKET_NAME: 'x' }, `S3_ENDPOINT is missing, and S3_BUCKET_NAME is set.${SEE}`],
  [{ ATLAS_SECRET: 'short' }, `ATLAS_SECRET must have at least 32 characters.${SEE}`],
])('the atlas refuses %j, and says in a line why', (env, line) => {
  expect(() => readConfig(env)).toThrow(new ConfigError(line))
})

it.each([
  [noNumber, `PORT must be a whole number from 0 to 65535.${SEE}`],
  [
    { PORT: '0', HOST: '192.0.2.1' },
    `HOST is '192.0.2.1', which is no name or address of this machine.`,
  ],
])('the atlas ends with the line that says why it cannot start with %j', async (env, line) => {
  expect(await failed(env)).toEqual([1, `${line}\n`])
})

it('the atlas answers at once, shows how far the seed is, and lets requests wait for it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-atlas-'))
  const [port = 0] = await freePorts(1)
  const args = [FROM_SOURCE, '--disable-warning=ExperimentalWarning', MAIN]
  const env = { PATH: process.env.PATH, ATLAS_DB: join(folder, 'atlas.db'), PORT: `${port}` }
  const child = spawn(process.execPath, args, { env, cwd: folder })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null) await once(child, 'close')
    rmSync(folder, { recursive: true, force: true })
  })
  let said = ''
  child.stdout.on('data', (chunk) => (said += chunk))
  const base = `http://127.0.0.1:${port}`
  await expect.poll(() => fetch(base).catch(() => undefined)).toBeDefined()
  const page = await fetch(base)
  expect(await page.text()).toMatch(/<progress max="\d+" value="\d+">/)
  expect(page.headers.get('Cache-Control')).toBe('no-store')
  expect((await fetch(`${base}/healthz`)).status).toBe(200)
  const waiting = fetch(`${base}/cities?s=amsterdam`).then((response) => response.status)
  expect(said).not.toContain('The atlas serves on')
  child.kill('SIGTERM')
  expect(await waiting).toBe(503)
  await once(child, 'close')
  expect(said).toContain('Stopped. The seed goes on where it was at the next start.')
})
