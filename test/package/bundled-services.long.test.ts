import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installInto } from './consumer.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const project = mkdtempSync(join(tmpdir(), 'fieldgate-bundled-services-'))

/** An app with the packages that apps install. Each is asked for something; no service listens. */
const main = `import { createApp, createAuthRouter, createRouter, defineModel } from 'fieldgate'
import { diskFiles } from 'fieldgate/disk'
import { libsqlStore } from 'fieldgate/libsql'
import { mongoStore } from 'fieldgate/mongodb'
import { postgresStore } from 'fieldgate/postgres'
import { redisCache } from 'fieldgate/redis'
import { s3Files } from 'fieldgate/s3'
import { sharpImages } from 'fieldgate/sharp'
import { sqliteStore } from 'fieldgate/sqlite'
import * as z from 'zod'

const secret = 'a secret that guards nothing, for this test'
const s3 = { bucket: 'a', endpoint: 'http://127.0.0.1:1', accessKeyId: 'a', secretAccessKey: 'b' }
const services: Record<string, () => unknown> = {
  mongodb: () => mongoStore({ url: 'mongodb://127.0.0.1:1/a?serverSelectionTimeoutMS=1000' }).prepare([]),
  postgres: () => postgresStore({ url: 'postgres://127.0.0.1:1/a' }).prepare([]),
  redis: () => redisCache({ url: 'redis://127.0.0.1:1' }).get('a'),
  libsql: () => libsqlStore({ url: 'file:a.db' }).prepare([]),
  s3: () => s3Files(s3).delete('a'),
}
const said: Record<string, unknown> = {}
for (const [name, ask] of Object.entries(services)) {
  said[name] = await ask().then(() => 'done', (error: Error) => String(error.cause ?? error))
}

const errors: unknown[] = []
const note = (...all: unknown[]) => errors.push(...all)
const logger = { debug() {}, info() {}, warn: note, error: note }
const mail = { transport: { jsonTransport: true }, from: 'library@example.com' }
const auth = createAuthRouter({ fields: {}, token: { secret }, mail })
const Photo = defineModel('Photo', { fields: { image: z.string().optional() } })
const photos = createRouter({
  model: Photo,
  middlewares: [],
  allowedFields: ['image'],
  upload: { path: 'photos/', fields: [{ name: 'image' }], imgOptimizations: 'low' },
})
const files = diskFiles({ root: 'uploads', secret })
const app = createApp({ store: sqliteStore(), files, images: sharpImages(), logger, secret })
  .mount('/auth', auth.router)
  .mount('/photos', photos)
const status = async (path: string, body: object) => {
  const isForm = body instanceof FormData
  const headers = isForm ? {} : { 'Content-Type': 'application/json' }
  const init = { method: 'POST', headers, body: isForm ? body : JSON.stringify(body) }
  return (await app.handle(new Request('http://localhost' + path, init))).status
}
const photo = new FormData()
photo.append('image', new File([Buffer.from(process.env.PHOTO, 'base64')], 'a.png', { type: 'image/png' }))
const email = 'lib@example.com'
said.register = await status('/auth/register', { email, password: 'a long sentence of mine' })
said.forgotten = await status('/auth/password/forgot', { identifier: email })
said.upload = await status('/photos', photo)
await app.close()
console.log(JSON.stringify({ ...said, errors }))
process.exit()
`

/** The manual's command. */
function command(): string {
  const manual = readFileSync(join(root, 'docs/deploy-node.md'), 'utf8')
  const [, text = ''] = /^npx (esbuild main\.ts (?:.*\\\n)*.*)$/m.exec(manual) ?? []
  return text
}

beforeAll(async () => {
  await installInto(project)
  writeFileSync(join(project, 'main.ts'), main)
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

describe('an app in a folder, made as the manual says', () => {
  it('has the packages of its services, mail, images and uploads', async () => {
    const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter)
    await run('sh', ['-c', command()], { cwd: project, env: { ...process.env, PATH } })
    const env = { ...process.env, PHOTO: await photo() }
    const { stdout } = await run(process.execPath, ['out/main.js'], { cwd: project, env })
    const refused = expect.stringMatching(/ECONNREFUSED/)
    expect(JSON.parse(stdout)).toEqual({
      ...{ mongodb: refused, postgres: refused, redis: refused, s3: refused, libsql: 'done' },
      ...{ register: 201, forgotten: 200, upload: 201, errors: [] },
    })
  })
})

/** A small image, in base64. */
async function photo(): Promise<string> {
  const { default: sharp } = await import('sharp')
  const background = { r: 200, g: 100, b: 50 }
  const image = sharp({ create: { width: 64, height: 64, channels: 3, background } }).png()
  return (await image.toBuffer()).toString('base64')
}
