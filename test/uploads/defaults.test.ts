/**
 * A router whose `upload` says nothing (spec 4.3, the column "Default"), and reads beside it.
 */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../src/index.ts'
import { strippedBytes } from '../../src/uploads/strip/stripped.ts'
import { cat } from '../contract/images/photos.ts'
import { album } from './album.ts'
import { form, png } from './png.ts'

const MIB = 1024 * 1024

const Paper = defineModel('Paper', { fields: { file: z.string().optional() } })

/** Papers beside the album's photos. */
function papers() {
  const served = album()
  served.app.mount('/papers', createRouter({ model: Paper, allowedFields: ['file'], upload: {} }))
  return served
}

function sized(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  bytes.set(png)
  return bytes
}

it('4.3 takes one private file in the field "file", as it came, under files/', async () => {
  const { upload, send, app, files } = papers()
  const photo = new Uint8Array(await strippedBytes(cat.bytes, 'image/jpeg'))
  const query = '/papers?imgOptimizations=high'
  const { record, status } = await upload('POST', query, form({ file: photo }))
  expect(status).toBe(201)
  expect(record.file).toMatch(/^\/uploads\/files\/\d{13}-[0-9a-f]{32}\.jpg$/)
  expect((await send('GET', String(record.file))).status).toBe(403)
  const link = await files.signedUrl(String(record.file), 60)
  const stored = await app.handle(new Request(`http://localhost${link}`))
  expect(Buffer.from(await stored.arrayBuffer()).equals(photo)).toBe(true)
  const two = await upload('POST', '/papers', form({ file: [png, png] }))
  expect([two.status, two.body.error]).toEqual([400, 'File upload error: Unexpected file field'])
})

it('4.3 takes files of 10 MiB, and not one byte more', async () => {
  const { upload } = papers()
  expect((await upload('POST', '/papers', form({ file: sized(10 * MIB) }))).status).toBe(201)
  const more = await upload('POST', '/papers', form({ file: sized(10 * MIB + 1) }))
  expect([more.status, more.body.error]).toEqual([400, 'File upload error: File too large'])
})

it('4.3 takes no other types than JPEG, PNG, GIF, WebP, AVIF and PDF', async () => {
  const { upload } = papers()
  const tiff = new Uint8Array(Buffer.from('49492a00080000000000000000000000', 'hex'))
  const refused = await upload('POST', '/papers', form({ file: tiff }))
  expect([refused.status, refused.body.error]).toEqual([
    400,
    `File type 'image/tiff' is not allowed.`,
  ])
})

it('4.3 reads never run the upload step', async () => {
  const { upload, send, calls } = papers()
  await upload('POST', '/papers', form({ file: png }))
  calls.length = 0
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  expect((await send('GET', '/papers', { headers })).records).toHaveLength(1)
  const queried = await upload('QUERY', '/papers', form({ file: png }))
  expect([queried.status, queried.body.error]).toEqual([
    415,
    'QUERY body must be sent as application/json.',
  ])
  expect(calls).toEqual([])
})
