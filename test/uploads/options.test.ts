/**
 * Start-up: an `upload` that makes no sense is refused by its router, with the name of what is wrong.
 */

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sharpImages } from '../../adapters/images/sharp.ts'
import { createRouter, defineModel, ref } from '../../src/index.ts'
import { service } from '../records/service.ts'
import { album } from './album.ts'
import { form, png } from './png.ts'

const Thing = defineModel('Thing', {
  fields: {
    file: z.string().optional(),
    list: z.array(z.string()).optional(),
    object: z.object({ url: z.url() }).optional(),
    bag: z.record(z.string(), z.string()).optional(),
    anything: z.any(),
    count: z.number().optional(),
    owner: ref('Thing').optional(),
    bare: z.object({ href: z.string() }).optional(),
  },
})

function mounted(upload: unknown, app = {}): () => void {
  const options = { model: Thing, allowedFields: ['file'], upload }
  return () => void service(app).app.mount('/things', createRouter(options as never))
}

describe('upload options', () => {
  it('are refused by their name when they make no sense', () => {
    for (const [upload, message] of [
      ['files/', `'upload' must be an object`],
      [{ unknown: 1 }, `unknown option 'upload.unknown'`],
      [{ path: '' }, `'upload.path'`],
      [{ path: '../x' }, `'upload.path'`],
      [{ path: 'a b' }, `'upload.path'`],
      [{ path: 7 }, `'upload.path'`],
      [{ fields: [] }, `'upload.fields'`],
      [{ fields: 'file' }, `'upload.fields'`],
      [{ fields: [{ name: 'file', maxcount: 2 }] }, `unknown option 'upload.fields[0].maxcount'`],
      [{ fields: ['file'] }, `'upload.fields[0]' must be an object`],
      [{ fields: [{ name: 'file' }, { name: 'file' }] }, `'upload.fields' names 'file' twice`],
      [{ acl: 'public' }, `'upload.acl' must be one of private, public-read`],
      [{ allowedMimeTypes: [] }, `'upload.allowedMimeTypes'`],
      [{ allowedMimeTypes: ['png'] }, `'upload.allowedMimeTypes'`],
      [{ allowedMimeTypes: ['IMAGE/PNG'] }, `'upload.allowedMimeTypes'`],
      [{ maxFileSize: '10mb' }, `'upload.maxFileSize' must be a whole number of at least 1`],
      [{ maxFiles: 0 }, `'upload.maxFiles' must be a whole number of at least 1`],
      [{ imgOptimizations: 'best' }, `'upload.imgOptimizations' must be one of low, medium, high`],
      [{ allowClientImageOptions: 1 }, `'upload.allowClientImageOptions' must be true or false`],
      [{ signUrls: -1 }, `'upload.signUrls' must be a whole number of seconds from 1 to 604800`],
      [{ signUrls: 604_801 }, `'upload.signUrls'`],
    ] as const) {
      expect(mounted(upload), JSON.stringify(upload)).toThrow(message)
      expect(mounted(upload)).toThrow(`Router '/things'`)
    }
  })

  it('are refused where a field has no place for URLs', () => {
    for (const [field, message] of [
      [{ name: 'missing' }, `'upload.fields' lists 'missing', but the model has no such field`],
      [{ name: 'toString' }, `'upload.fields' lists 'toString'`],
      [{}, `'upload.fields' lists 'undefined'`],
      [null, `'upload.fields' lists 'undefined'`],
      [{ name: 'count' }, `'count' must be a string to take a file`],
      [{ name: 'owner' }, `'owner' must be a string to take a file`],
      [{ name: 'list' }, `'list' must be a string to take a file`],
      [
        { name: 'file', maxCount: 2 },
        `'file' must be a list, each element a string, to take 2 files`,
      ],
      [{ name: 'file', formatToUrlObject: true }, `'file' must be an object with a url`],
      [{ name: 'bare', formatToUrlObject: true }, `'bare' must be an object with a url`],
      [
        { name: 'list', maxCount: 2, formatToUrlObject: true },
        `'list' must be a list, each element an object`,
      ],
      [{ name: 'file', maxCount: 0 }, `'upload.fields[0].maxCount'`],
      [{ name: 'file', formatToUrlObject: 'yes' }, `'upload.fields[0].formatToUrlObject'`],
    ] as const) {
      expect(mounted({ fields: [field] }), JSON.stringify(field)).toThrow(message)
    }
  })

  it('take every shape that fits, and the default field', () => {
    for (const fields of [
      undefined,
      [
        { name: 'list', maxCount: 9 },
        { name: 'anything', maxCount: 3 },
      ],
      [{ name: 'anything' }],
      [{ name: 'anything', formatToUrlObject: true }],
      [
        { name: 'object', formatToUrlObject: true },
        { name: 'bag', formatToUrlObject: true },
      ],
    ]) {
      expect(mounted({ fields })).not.toThrow()
    }
  })

  it('need an optimiser where images are to be compressed', () => {
    for (const upload of [{ imgOptimizations: 'low' }, { allowClientImageOptions: true }]) {
      expect(mounted(upload)).toThrow('createApp({ images: sharpImages() })')
      expect(mounted(upload, { images: sharpImages() })).not.toThrow()
    }
  })

  it('choose the folder of the keys', async () => {
    const { upload, keys } = album({ upload: { path: '/photos/2024/' } })
    await upload('POST', '/photos', form({ title: 'x', image: png }))
    expect(await keys()).toEqual([
      expect.stringMatching(/^photos\/2024\/\d{13}-[0-9a-f]{32}\.png$/),
    ])
  })
})
