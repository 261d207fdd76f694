/**
 * An album whose photos are uploaded: the app that the tests of uploads drive.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import {
  type AppOptions,
  createRouter,
  defineModel,
  type FileStore,
  type Model,
  type RouterOptions,
  type UploadOptions,
  type Values,
} from '../../src/index.ts'
import { type Answer, type Message, type Service, service } from '../records/service.ts'

const fields = {
  title: z.string().max(50),
  rating: z.number().min(0).max(5).optional(),
  public: z.boolean().optional(),
  takenAt: z.date().optional(),
  tags: z.array(z.string()).optional(),
  place: z.object({ city: z.string(), spot: z.object({ x: z.number() }).optional() }).optional(),
  image: z.string().nullable().optional(),
  others: z.array(z.string()).optional(),
  cover: z.object({ url: z.string() }).optional(),
  sheets: z.array(z.object({ url: z.string() })).optional(),
}

/** A photo's own fields. */
export type PhotoValues = Values<typeof fields>

/** A model with file fields of each shape. */
export const Photo: Model<PhotoValues> = defineModel('Photo', { fields, unique: ['title'] })

/** The file fields of the album's router. */
export const fileFields = [
  { name: 'image' },
  { name: 'others', maxCount: 3 },
  { name: 'cover', formatToUrlObject: true },
  { name: 'sheets', maxCount: 2, formatToUrlObject: true },
] as const

/** What an album may be made of otherwise. */
export interface AlbumOptions {
  readonly upload?: UploadOptions<keyof PhotoValues>
  readonly router?: Partial<RouterOptions<PhotoValues>>
  readonly app?: Partial<AppOptions>
  /** Where its files are; a folder of its own, if not given. */
  readonly files?: FileStore
  /** Awaited before the store is asked to put or delete what is at `url`. */
  readonly before?: (call: 'put' | 'delete', url: string) => Promise<void>
}

/** An album, its files, and what has been asked of their store. */
export interface Album extends Service {
  readonly files: FileStore
  /** The names of the store's calls, in order. */
  readonly calls: string[]
  /** The keys of the stored objects. */
  keys(): Promise<string[]>
  upload(method: string, path: string, form: FormData, message?: Message): Promise<Answer>
}

/** An album on a folder of its own, gone with the test. */
export function album(options: AlbumOptions = {}): Album {
  const root = mkdtempSync(join(tmpdir(), 'fieldgate-album-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const calls: string[] = []
  const files = watched(
    options.files ?? diskFiles({ root, secret: 'a secret of at least thirty-two characters' }),
    calls,
    options.before,
  )
  const served = service({ files, ...options.app })
  served.app.mount(
    '/photos',
    createRouter({
      model: Photo,
      allowedFields: Object.keys(fields) as (keyof PhotoValues)[],
      upload: { fields: fileFields, ...options.upload },
      ...options.router,
    }),
  )
  return {
    ...served,
    files,
    calls,
    async keys() {
      const keys: string[] = []
      for await (const { key } of files.list('')) keys.push(key)
      return keys.sort()
    },
    upload: (method, path, form, message = {}) =>
      served.send(method, path, { body: form, ...message }),
  }
}

function watched(
  files: FileStore,
  calls: string[],
  before: AlbumOptions['before'] = async () => {},
): FileStore {
  return {
    ...files,
    async put(key, body, meta, options) {
      calls.push('put')
      await before('put', files.urlOf(key))
      return files.put(key, body, meta, options)
    },
    async delete(key, options) {
      calls.push('delete')
      await before('delete', files.urlOf(key))
      return files.delete(key, options)
    },
  }
}

/** One part of a body written by hand. */
export interface RawPart {
  readonly headers: string
  readonly content: string | Uint8Array
}

/** The boundary of bodies written by hand. */
export const BOUNDARY = '----formBoundary7MA4YWxk'

/** The headers of a body written by hand. */
export const rawHeaders: Record<string, string> = {
  'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
}

/** A multipart body written by hand. */
export function rawBody(
  parts: readonly RawPart[],
  end = `--${BOUNDARY}--\r\n`,
): Uint8Array<ArrayBuffer> {
  const pieces = parts.flatMap(({ headers, content }) => [
    Buffer.from(`--${BOUNDARY}\r\n${headers}\r\n\r\n`),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ])
  return new Uint8Array(Buffer.concat([...pieces, Buffer.from(end)]))
}

/** The header of a file part. */
export function fileHead(name: string, filename = 'a.png'): string {
  return `Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: image/png`
}

/** The header of a text part. */
export function textHead(name: string): string {
  return `Content-Disposition: form-data; name="${name}"`
}

/** Bytes in pieces, as a body that says no length. */
export function pieces(chunks: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel() {
      iterator.return?.()
    },
  })
}
