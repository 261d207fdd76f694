import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run as runSql } from '../../services/postgres.ts'
import type { Seaweed } from '../../services/seaweed.ts'
import { freePorts } from '../../services/server.ts'
import { adminPackage, withService } from '../../services/shared.ts'
import { build, type Image, served } from './dockerfile.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`

const home = mkdtempSync(join(tmpdir(), 'fieldgate-image-'))
let image: Image

beforeAll(async () => {
  chmodSync(home, 0o755)
  const folder = join(home, 'app')
  mkdirSync(folder)
  const env = { ...process.env, PATH }
  // What `npm run build` makes of the admin page.
  await adminPackage()
  image = await build(join(root, 'examples/atlas/Dockerfile'), { context: root, folder, env })
}, 300_000)
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** Starts the atlas with these variables, and asks it a few things. */
async function serves(variables: Record<string, string>): Promise<void> {
  const [port = 0] = await freePorts(1)
  const env = { PATH, ATLAS_CITIES: '5', ...variables }
  await served(image, port, { env, ready: 'The atlas serves on' }, async (base) => {
    const found = await fetch(`${base}/countries?code=NL`)
    const { data } = (await found.json()) as { data: { name: string; flag: string }[] }
    expect(data).toMatchObject([{ name: 'Netherlands' }])
    const flag = await fetch(new URL(data[0]?.flag ?? '', base))
    expect([flag.status, flag.headers.get('content-type')]).toEqual([200, 'image/png'])
    // Without an answer of the cache in time, the app goes on without it.
    const isCached = async () => (await fetch(`${base}/countries?code=NL`)).headers.has('x-cache')
    await expect.poll(isCached).toBe(variables.REDIS_URL !== undefined)
    const page = await (await fetch(`${base}/docs`)).text()
    const [, script = ''] = /<script src="([^"]+)"/.exec(page) ?? []
    expect((await fetch(new URL(script, `${base}/docs/`))).status).toBe(200)
    const admin = await (await fetch(`${base}/admin`)).text()
    const [, program = ''] = /src="([^"]+)"/.exec(admin) ?? []
    expect((await fetch(new URL(program, base))).status).toBe(200)
  })
}

describe("the atlas's Dockerfile, step by step", () => {
  it('gives a program that runs without rights, with nothing but a volume', async () => {
    expect(image.user).toBe('node')
    await serves({})
    // The secret in the volume is for this user alone.
    const { stdout } = await promisify(execFile)('stat', [
      '-c',
      '%a',
      `${image.env.ATLAS_DB}.secret`,
    ])
    expect(stdout.trim()).toBe('600')
  })

  it('installs little', async () => {
    const { stdout } = await promisify(execFile)('du', ['-sm', join(image.folder, 'node_modules')])
    expect(Number.parseInt(stdout, 10)).toBeLessThan(120)
  })
})

/** Makes a bucket as the service `bucket` of compose.yaml does, with its policy. */
async function makeBucket({ url, ...keys }: Omit<Seaweed, 'stop'>, name: string): Promise<void> {
  const compose = readFileSync(join(root, 'compose.yaml'), 'utf8')
  const [, policy = ''] = /--policy '([^']+)'/.exec(compose) ?? []
  const client = new AwsClient({ ...keys, service: 's3' })
  for (const [path, body] of [
    [name, undefined],
    [`${name}?policy`, policy.replaceAll('atlas', name)],
  ] as const) {
    const init = { method: 'PUT', ...(body !== undefined && { body }) }
    expect((await client.fetch(`${url}/${path}`, init)).ok).toBe(true)
  }
}

const secret = 'only for tests, 0123456789abcdefghij'

await withService('postgres', (postgres) =>
  withService('valkey', (valkey) =>
    withService('seaweed', (seaweed) => {
      it('runs on PostgreSQL, Valkey and SeaweedFS', async () => {
        const name = `atlas${Date.now()}`
        await runSql(postgres.url, `CREATE DATABASE ${name}`)
        await makeBucket(seaweed, name)
        const address = new URL(postgres.url)
        address.pathname = `/${name}`
        await serves({
          ATLAS_SECRET: secret,
          DATABASE_URL: address.href,
          REDIS_URL: valkey.url,
          CACHE_ENABLED: 'true',
          CACHE_PREFIX: `${name}:`,
          S3_ENDPOINT: seaweed.url,
          S3_BUCKET_NAME: name,
          S3_REGION: seaweed.region,
          S3_SPACES_KEY: seaweed.accessKeyId,
          S3_SPACES_SECRET: seaweed.secretAccessKey,
        })
      })
    }),
  ),
)
