/**
 * File storage that fails: every write is answered in time, leaves no record behind, and goes on by itself
 * afterwards (security.md I9).
 */

import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { s3Files } from '../../../adapters/files/s3.ts'
import { s3Files as s3FilesOnWorkers } from '../../../adapters/files/s3-workerd.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { sweepFiles } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { form, png } from '../../uploads/png.ts'
import { album, Photo } from './servers/album.ts'

/** How the storage behaves. */
type Mood = 'well' | 'down' | 'silent' | 'busy' | 'refusing' | 'resetting' | 'dropping' | 'garbage'

const ANSWERS: Partial<Record<Mood, readonly [number, string]>> = {
  busy: [503, '<Error><Code>SlowDown</Code></Error>'],
  refusing: [403, '<Error><Code>AccessDenied</Code></Error>'],
  garbage: [500, '\0\xff not XML'],
}

/** A server in front of the storage that fails as it is told to. */
async function moody(origin: string) {
  let mood: Mood = 'well'
  const server: Server = createServer((incoming, outgoing) => {
    const answer = ANSWERS[mood]
    if (mood === 'silent') return
    if (mood === 'resetting')
      return void incoming.once('data', () => incoming.socket.resetAndDestroy())
    if (answer) return void outgoing.writeHead(answer[0]).end(answer[1])
    const { method, headers, url = '/' } = incoming
    const forwarded = request(new URL(url, origin), { method, headers }, (reply) => {
      // The object has been stored, but nobody hears of it.
      if (mood === 'dropping') return void incoming.socket.resetAndDestroy()
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  server.on('connection', (socket) => mood === 'down' && socket.destroy())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    become(next: Mood) {
      mood = next
      if (next === 'down') server.closeAllConnections()
    },
  }
}

/** The deadline of a put, the second for cleaning up after it, and some more. */
const PATIENCE_MS = 8000
const adapters = { 'the AWS SDK': s3Files, aws4fetch: s3FilesOnWorkers }

await withService('seaweed', ({ url: origin, ...place }) => {
  for (const [by, open] of Object.entries(adapters)) {
    describe(`storage behind ${by}`, () => {
      for (const mood of [
        'down',
        'silent',
        'busy',
        'refusing',
        'resetting',
        'dropping',
        'garbage',
      ] as const) {
        it(`I9 that is ${mood} is a 503 in time, without a record, and then goes on`, async () => {
          const storage = await moody(origin)
          const files = open({ ...place, endpoint: storage.url })
          // The bucket is shared by the whole run.
          const path = `${crypto.randomUUID()}/`
          const app = album({ store: sqliteStore(), files }, { path })
          onTestFinished(() => app.close())
          const send = async (method: string, at: string, body?: FormData) => {
            const started = performance.now()
            const response = await app.handle(
              new Request(`http://localhost/photos${at}`, { method, ...(body && { body }) }),
            )
            const { data, ...rest } = (await response.json()) as {
              data?: Record<string, unknown>
              error?: string
              requestId?: string
            }
            return { status: response.status, data, ...rest, ms: performance.now() - started }
          }
          const large = new Uint8Array(600_000)
          large.set(png)
          const before = await send('POST', '', form({ title: 'before', image: large }))
          expect(before.status).toBe(201)

          storage.become(mood)
          const failed = await send(
            'POST',
            '',
            form({ title: 'lost', image: large, others: [png, png] }),
          )
          expect([failed.status, failed.error]).toEqual([503, 'File storage is unavailable.'])
          expect(failed.requestId).toBeDefined()
          expect(failed.ms).toBeLessThan(PATIENCE_MS)
          const unchanged = await send('PATCH', `/${before.data?._id}`, form({ image: png }))
          expect(unchanged.status).toBe(503)
          const photos = app.store.collection(Photo)
          expect(await photos.find()).toMatchObject([{ image: before.data?.image }])
          expect((await send('POST', '', form({ title: 'text goes on' }))).status).toBe(201)
          const deleted = await send('DELETE', `/${before.data?._id}`)
          expect(deleted.status).toBe(200)
          expect(deleted.ms).toBeLessThan(PATIENCE_MS)

          storage.become('well')
          const after = await send('POST', '', form({ title: 'after', image: large }))
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
