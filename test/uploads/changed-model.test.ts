/**
 * Files of records that were stored under an earlier model.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, sweepFiles } from '../../src/index.ts'
import { recordedLog } from '../records/service.ts'
import { form, png } from './png.ts'

/** Versions of an app on one database and one file store. */
function versions() {
  const root = mkdtempSync(join(tmpdir(), 'fieldgate-versions-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const files = diskFiles({
    root: join(root, 'files'),
    secret: 'a secret of at least thirty-two characters',
  })
  return {
    async keys() {
      const keys: string[] = []
      for await (const { key } of files.list('')) keys.push(key)
      return keys
    },
    version(field: string, type: z.ZodType, more: object = {}, maxCount = 1) {
      const store = sqliteStore({ path: join(root, 'app.db') })
      const app = createApp({ store, files, logger: recordedLog(), env: {} })
      onTestFinished(() => app.close())
      const model = defineModel('Photo', { fields: { title: z.string(), [field]: type }, ...more })
      const upload = { fields: [{ name: field, maxCount }] }
      const router = { model, middlewares: [], allowedFields: ['title', field], upload }
      app.mount('/photos', createRouter(router as never))
      const send = async (method: string, path: string, body?: FormData) => {
        const request = new Request(`http://localhost/photos${path}`, {
          method,
          ...(body && { body }),
        })
        const { data } = (await (await app.handle(request)).json()) as {
          data: Record<string, unknown>
        }
        return data
      }
      return { app, send }
    },
  }
}

const inTwoHours = { now: () => Date.now() + 2 * 60 * 60 * 1000 }
const one = z.string().optional()

it('a file that became the first of a list stays if the client sends its URL', async () => {
  const { version, keys } = versions()
  const old = version('image', one)
  const { _id, image } = await old.send('POST', '', form({ title: 'x', image: png }))
  const options = { renamed: { image: 'images' }, convert: { images: (url: unknown) => [url] } }
  const now = version('images', z.array(z.string()).default([]), options, 3)
  expect(await now.send('GET', `/${_id}`)).toMatchObject({ images: [image] })
  const { images } = await now.send('PATCH', `/${_id}`, form({ images: [String(image), png] }))
  expect(images).toEqual([image, expect.any(String)])
  expect(await keys()).toHaveLength(2)
})

it('a sweep leaves the files of another version alone, whatever it calls the field', async () => {
  const { version, keys } = versions()
  const old = version('image', one)
  const { _id } = await old.send('POST', '', form({ title: 'x', image: png }))
  await old.send('POST', '', form({ title: 'y', image: png }))
  const now = version('picture', one, { renamed: { image: 'picture' } })
  await now.send('PATCH', `/${_id}`, form({ title: 'z' }))
  for (const { app } of [old, now, version('other', one)]) {
    expect(await sweepFiles(app, inTwoHours)).toEqual({ examined: 2, orphans: [] })
  }
  expect(await keys()).toHaveLength(2)
})
