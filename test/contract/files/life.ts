/**
 * The life of a photo on an S3 server, through the app: what the contract's sentences come to together.
 *
 * @module
 */

import { AwsClient } from 'aws4fetch'
import { expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { App, FileStore, UploadOptions } from '../../../src/index.ts'
import { album } from '../../faults/uploads/servers/album.ts'
import type { Seaweed } from '../../services/seaweed.ts'
import { fileHead, rawBody, rawHeaders } from '../../uploads/album.ts'
import { form, png } from '../../uploads/png.ts'

/** A server with a bucket. */
export type Place = Omit<Seaweed, 'stop'>

/** A store on the server, and whether the server opens single objects to everybody. */
export interface LifeOptions {
  readonly open: () => FileStore
  readonly place: Place
  readonly opensSingleObjects: boolean
}

interface Photo {
  readonly _id: string
  readonly image: string
}

/** Registers the lives of photos on one server. */
export function verifyLife(name: string, { open, place, opensSingleObjects }: LifeOptions): void {
  const begin = (upload: UploadOptions = {}) => {
    const files = open()
    const path = `${crypto.randomUUID()}/`
    const app = album({ store: sqliteStore(), files }, { path, ...upload })
    onTestFinished(() => app.close())
    return { files, path, send: sender(app) }
  }

  it(`a private photo lives and dies on ${name}, and opens only with a signature`, async () => {
    const { files, path, send } = begin({ signUrls: 600 })
    const made = await send('POST', '', form({ image: png }))
    const opened = await fetch(made.image)
    expect(new Uint8Array(await opened.arrayBuffer())).toEqual(png)
    expect(opened.headers.get('content-type')).toBe('image/png')
    expect(opened.headers.get('content-disposition')).toBe('inline')
    const [unsigned = ''] = made.image.split('?')
    expect((await fetch(unsigned)).status).toBe(403)
    const changed = await send('PATCH', `/${made._id}`, form({ image: png }))
    expect(await keysOf(files, path)).toEqual([files.keyOf(changed.image)])
    expect((await fetch(changed.image)).status).toBe(200)
    expect([403, 404]).toContain((await fetch(made.image)).status)
    await send('DELETE', `/${made._id}`)
    expect(await keysOf(files, path)).toEqual([])
  })

  it(`uploads that are cut leave no object and no open multipart upload on ${name}`, async () => {
    const { files, path, send } = begin()
    const large = new Uint8Array(700_000)
    large.set(png)
    const whole = rawBody([{ headers: fileHead('image'), content: large }])
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        expect(send('POST', '', cut(whole, (index + 1) / 21))).rejects.toThrow('Malformed'),
      ),
    )
    expect(await keysOf(files, path)).toEqual([])
    const client = new AwsClient({ ...place, service: 's3', retries: 0 })
    const open = await (await client.fetch(`${place.url}/${place.bucket}?uploads`)).text()
    expect(open).toContain('ListMultipartUploadsResult')
    expect(open).not.toContain('<UploadId>')
  })

  if (!opensSingleObjects) return
  it(`a public-read photo on ${name} opens for everybody, a private one beside it does not`, async () => {
    const everybody = await begin({ acl: 'public-read' }).send('POST', '', form({ image: png }))
    expect((await fetch(everybody.image)).status).toBe(200)
    const holders = await begin().send('POST', '', form({ image: png }))
    expect((await fetch(holders.image)).status).toBe(403)
  })
}

/** Sends a request, and gives the record of the answer; rejects with a refusal's text. */
function sender(app: App) {
  return async (
    method: string,
    at: string,
    body?: FormData | ReadableStream<Uint8Array>,
  ): Promise<Photo> => {
    const raw = body instanceof ReadableStream && { headers: rawHeaders, duplex: 'half' }
    const init = { method, ...(body && { body }), ...raw } as RequestInit
    const response = await app.handle(new Request(`http://localhost/photos${at}`, init))
    const { data, error } = (await response.json()) as { data: Photo; error?: string }
    if (error) throw new Error(error)
    return data
  }
}

/** The first `share` of a body, which then breaks off. */
function cut(whole: Uint8Array, share: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(whole.slice(0, whole.length * share))
    },
    pull(controller) {
      controller.error(new Error('the client went away'))
    },
  })
}

async function keysOf(files: FileStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of files.list(prefix)) keys.push(key)
  return keys
}
