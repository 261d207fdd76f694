import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { form, png } from '../uploads/png.ts'

const City = defineModel('ServedCity', {
  fields: { name: z.string(), photo: z.string().optional() },
})

it.each(['', '/api'])('serves files below %j that it refuses', async (basePath) => {
  const root = await mkdtemp(join(tmpdir(), 'fieldgate-serves-'))
  const files = diskFiles({ root, secret: 'at least thirty-two characters here' })
  const app = createApp({ store: sqliteStore(), files, ...(basePath && { basePath }) }).mount(
    '/cities',
    createRouter({
      ...{ model: City, allowedFields: ['name', 'photo'], middlewares: [] },
      upload: { acl: 'private', fields: [{ name: 'photo' }] },
    }),
  )
  onTestFinished(async () => {
    await app.close()
    await rm(root, { recursive: true, force: true })
  })
  const body = form({ name: 'Bern', photo: png })
  const created = await app.handle(
    new Request(`http://x${basePath}/cities`, { method: 'POST', body }),
  )
  const { data } = (await created.json()) as { data: { photo: string } }
  const request = new Request(`http://x${data.photo}`)
  expect(await app.serves(request)).toBe(true)
  expect((await app.handle(request)).status).toBe(403)
  expect(await app.serves(new Request(`http://x${basePath}/others`))).toBe(false)
})
