/**
 * Uploads to SeaweedFS while a proxy in front of it fails in one way after the other: `npm run faults -- s3`.
 *
 * @module
 */

import { s3Files } from '../../../adapters/files/s3.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { type App, type FileStore, sweepFiles } from '../../../src/index.ts'
import { type S3Fault, s3Faults, s3Proxy } from '../../services/s3-proxy.ts'
import { type Seaweed, seaweed } from '../../services/seaweed.ts'
import { form } from '../../uploads/png.ts'
import { part, type Report } from '../report.ts'
import { album, Photo } from './servers/album.ts'

interface Tally {
  stored: number
  unavailable: number
  other: number
  slowestMs: number
}

/** Of an upload of at least this many bytes. */
const SMALLEST = 20_000

/** Each fault now and then. */
const MIXED = [...s3Faults, ...Array.from({ length: 2 * s3Faults.length }, () => 'slow' as const)]

/** Faults under which a file cannot be removed either. */
const REFUSES_DELETES: ReadonlySet<string> = new Set(['hoarding', 'by chance'])

/** `npm run faults -- s3`. */
export const s3 = part({
  about: 'uploads to SeaweedFS behind a proxy that fails',
  options: { uploads: 60, clients: 6 },
  async run({ uploads, clients }): Promise<Report> {
    const storage = await seaweed()
    const rows = []
    let holds = true
    for (const fault of [...s3Faults, 'by chance'] as const) {
      const { row, held } = await under(fault, storage, uploads, clients)
      rows.push(row)
      holds &&= held
    }
    await storage.stop()
    return { rows, holds }
  },
})

async function under(
  fault: S3Fault | 'by chance',
  { url, ...place }: Seaweed,
  uploads: number,
  clients: number,
): Promise<{ row: Report['rows'][number]; held: boolean }> {
  const proxy = await s3Proxy(url)
  // The object's URL has the proxy's address, and is read through it.
  const files = s3Files({ ...place, endpoint: proxy.url })
  const path = `${crypto.randomUUID()}/`
  const app = album({ store: sqliteStore(), files }, { path })
  const tally: Tally = { stored: 0, unavailable: 0, other: 0, slowestMs: 0 }
  proxy.become(fault === 'by chance' ? MIXED : fault)
  let left = uploads
  const client = async () => {
    while (left > 0) {
      left -= 1
      await upload(app, tally)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))

  proxy.become('well')
  const photos = await app.store.collection(Photo).find()
  const unreadable = await countUnreadable(
    files,
    photos.map(({ image }) => String(image)),
  )
  const { orphans } = await sweepFiles(app, { graceSeconds: 0, now: () => Date.now() + 5000 })
  await app.close()
  proxy.stop()
  const { stored, unavailable, other, slowestMs } = tally
  const row = {
    fault,
    stored,
    unavailable,
    other,
    records: photos.length,
    unreadable,
    orphans: orphans.length,
    'slowest s': (slowestMs / 1000).toFixed(1),
  }
  const held = other + unreadable === 0 && photos.length === stored
  return { row, held: held && (orphans.length === 0 || REFUSES_DELETES.has(fault)) }
}

async function upload(app: App, tally: Tally): Promise<void> {
  const image = new Uint8Array(SMALLEST + Math.floor(Math.random() * 500_000)).fill(1)
  image.set(new TextEncoder().encode('%PDF-1.7\n'))
  const startedAt = performance.now()
  const request = new Request('http://localhost/photos', { method: 'POST', body: form({ image }) })
  const response = await app.handle(request)
  const { error } = (await response.json()) as { error?: string }
  tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startedAt)
  const isRefusal = response.status === 503 && response.headers.has('retry-after')
  if (response.status === 201) tally.stored += 1
  else if (isRefusal && error === 'File storage is unavailable.') tally.unavailable += 1
  else tally.other += 1
}

async function countUnreadable(files: FileStore, urls: readonly string[]): Promise<number> {
  const sizes = urls.map(async (url) => {
    const response = await fetch(await files.signedUrl(url, 60))
    return response.ok ? (await response.arrayBuffer()).byteLength : 0
  })
  return (await Promise.all(sizes)).filter((size) => size < SMALLEST).length
}
