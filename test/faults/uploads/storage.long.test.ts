/**
 * File storage that fails: every write is answered in time, leaves no record behind, and goes on by itself
 * afterwards.
 */

import { describe, expect, it } from 'vitest'
import { s3Files } from '../../../adapters/files/s3.ts'
import { s3Files as s3FilesOnWorkers } from '../../../adapters/files/s3-workerd.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { sweepFiles } from '../../../src/index.ts'
import { ownTime } from '../../own-time.ts'
import { type S3Fault, s3Faults, s3Proxy } from '../../services/s3-proxy.ts'
import { withService } from '../../services/shared.ts'
import { form, png } from '../../uploads/png.ts'
import { album, Photo } from './servers/album.ts'

/** The deadline of a put, the second for cleaning up after it, and some more. */
const PATIENCE_MS = 8000
const now = ownTime()
const HARMLESS: readonly S3Fault[] = ['slow', 'encrypting']

let busy: Promise<unknown> = Promise.resolve()
/** What works well has the machine to itself: all at once, some would come to their deadlines. */
function alone<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = busy.then(work)
  busy = result.catch(() => {})
  return result
}

const adapters = { 'the AWS SDK': s3Files, aws4fetch: s3FilesOnWorkers }

await withService('seaweed', ({ url: origin, ...place }) => {
  for (const [by, open] of Object.entries(adapters)) {
    // Some wait for a deadline, all of them at the same time.
    describe.concurrent(`storage behind ${by}`, () => {
      it.for(HARMLESS)('that is %s is used all the same', async (mood, { onTestFinished }) => {
        const storage = await s3Proxy(origin)
        onTestFinished(() => storage.stop())
        const files = open({ ...place, endpoint: storage.url })
        const app = album({ store: sqliteStore(), files }, { path: `${crypto.randomUUID()}/` })
        onTestFinished(() => app.close())
        storage.become(mood)
        const body = form({ image: png })
        const request = new Request('http://localhost/photos', { method: 'POST', body })
        expect((await alone(() => app.handle(request))).status).toBe(201)
      })

      for (const mood of s3Faults.filter((fault) => !HARMLESS.includes(fault))) {
        it(`that is ${mood} is a 503 in time, without a record, and then goes on`, async ({
          onTestFinished,
        }) => {
          const storage = await s3Proxy(origin)
          onTestFinished(() => storage.stop())
          const files = open({ ...place, endpoint: storage.url })
          // The bucket is shared by the whole run.
          const path = `${crypto.randomUUID()}/`
          const app = album({ store: sqliteStore(), files }, { path })
          onTestFinished(() => app.close())
          const send = async (method: string, at: string, body?: FormData) => {
            const started = now()
            const response = await app.handle(
              new Request(`http://localhost/photos${at}`, { method, ...(body && { body }) }),
            )
            const { data, ...rest } = (await response.json()) as {
              data?: Record<string, unknown>
              error?: string
              requestId?: string
            }
            return { status: response.status, data, ...rest, ms: now() - started }
          }
          const large = new Uint8Array(600_000)
          large.set(png)
          const before = await alone(() =>
            send('POST', '', form({ title: 'before', image: large })),
          )
          expect(before.status).toBe(201)

          storage.become(mood)
          // Both may wait for the deadline.
          const [failed, unchanged] = await Promise.all([
            send('POST', '', form({ title: 'lost', image: large, others: [png, png] })),
            send('PATCH', `/${before.data?._id}`, form({ image: png })),
          ])
          expect([failed.status, failed.error]).toEqual([503, 'File storage is unavailable.'])
          expect(failed.requestId).toBeDefined()
          expect(failed.ms).toBeLessThan(PATIENCE_MS)
          expect(unchanged.status).toBe(503)
          const photos = app.store.collection(Photo)
          expect(await photos.find()).toMatchObject([{ image: before.data?.image }])
          expect((await send('POST', '', form({ title: 'text goes on' }))).status).toBe(201)
          const deleted = await send('DELETE', `/${before.data?._id}`)
          expect(deleted.status).toBe(200)
          expect(deleted.ms).toBeLessThan(PATIENCE_MS)

          storage.become('well')
          const after = await alone(() => send('POST', '', form({ title: 'after', image: large })))
          expect(after.status).toBe(201)
          expect((await fetch(await files.signedUrl(String(after.data?.image), 60))).status).toBe(
            200,
          )
          await sweepFiles(app, { graceSeconds: 0, now: () => Date.now() + 5000 })
          const left: string[] = []
          for await (const { key } of files.list(path)) left.push(files.urlOf(key))
          expect(left).toEqual([after.data?.image])
          await send('DELETE', `/${after.data?._id}`)
        }, 300_000)
      }
    })
  }
})
