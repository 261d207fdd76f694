/**
 * Kills a writer of files with kill -9 at a random moment, and looks at what it has left:
 * `node kill.ts [rounds]` runs 200 rounds on a folder, `node kill.ts [rounds] s3` on a bucket of SeaweedFS.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { s3Files } from '../../../adapters/files/s3.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { sweepFiles } from '../../../src/index.ts'
import { programOf } from '../../services/program.ts'
import { seaweed } from '../../services/seaweed.ts'
import { album, Photo } from './servers/album.ts'

/** What the kills have come to. */
export interface Toll {
  rounds: number
  /** Writes that were answered before the kill. */
  acknowledged: number
  /** Answered creates that are not there, answered deletes that are. */
  lost: number
  records: number
  /** Records that point at an object that is not there. */
  dangling: number
  /** Objects that no record pointed at, which the sweeper has found and removed. */
  orphans: number
  /** Orphans left after the sweep. */
  left: number
}

const WRITERS = 4

/** Kills `rounds` writers, one after the other, over the same records. */
export async function killWriters(rounds: number, storage: 'disk' | 's3'): Promise<Toll> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-kill-'))
  const root = storage === 'disk' ? join(folder, 'files') : ''
  const database = join(folder, 'album.db')
  const toll: Toll = {
    rounds: 0,
    acknowledged: 0,
    lost: 0,
    records: 0,
    dangling: 0,
    orphans: 0,
    left: 0,
  }
  try {
    for (let round = 0; round < rounds; round += 1) {
      const said = await killOne(database, root)
      toll.rounds += 1
      toll.acknowledged += said.filter((line) => !/^(?:ready|leaving)/.test(line)).length
      await look(database, root, said, toll)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return toll
}

/** Starts a writer, kills it at a random moment, and gives the lines that it has said. */
async function killOne(database: string, root: string): Promise<string[]> {
  const script = programOf(new URL('writer.ts', import.meta.url))
  const args = ['--no-warnings', script, database, root, `${WRITERS}`]
  const writer: ChildProcess = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: string[] = []
  const lines = createInterface({ input: writer.stdout as NodeJS.ReadableStream })
  const ready = new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      said.push(line)
      if (line === 'ready') resolve()
    })
    writer.once('exit', (code) => reject(new Error(`the writer ended by itself with ${code}`)))
  })
  await ready
  const gone = once(writer, 'exit')
  setTimeout(() => writer.kill('SIGKILL'), 20 + Math.random() * 700)
  await Promise.all([gone, once(lines, 'close')])
  return said
}

async function look(database: string, root: string, said: string[], toll: Toll): Promise<void> {
  const files = root
    ? diskFiles({ root, secret: 'a secret of at least thirty-two characters' })
    : s3Files()
  const app = album({ store: sqliteStore({ path: database }), files })
  const stored = async (): Promise<Set<string>> => {
    const urls = new Set<string>()
    for await (const { key } of files.list('files/')) urls.add(files.urlOf(key))
    return urls
  }
  const records = await app.store.collection(Photo).find()
  const objects = await stored()
  const pointed = records.flatMap(({ image, others = [] }) => [
    ...(image ? [image] : []),
    ...others,
  ])
  toll.records += records.length
  toll.dangling += pointed.filter((url) => !objects.has(url)).length
  toll.lost += lostWrites(said, new Set(records.map(({ _id }) => _id)))
  const { orphans } = await sweepFiles(app, { graceSeconds: 0, now: () => Date.now() + 5000 })
  toll.orphans += orphans.length
  toll.left += [...(await stored())].filter((url) => !pointed.includes(url)).length
  // Few records at the start of each round, so that looking takes no longer each time.
  for (const { _id } of records.slice(10)) {
    await app.handle(new Request(`http://localhost/photos/${_id}`, { method: 'DELETE' }))
  }
  await app.close()
}

/** Answered creates that are missing, but for those that were about to be deleted; answered deletes that are there. */
function lostWrites(said: readonly string[], there: ReadonlySet<string>): number {
  const ids = (verb: string) =>
    said.filter((line) => line.startsWith(`${verb} `)).map((line) => line.slice(verb.length + 1))
  const leaving = new Set(ids('leaving'))
  const missing = ids('made').filter((id) => !there.has(id) && !leaving.has(id))
  return missing.length + ids('gone').filter((id) => there.has(id)).length
}

/** The environment of a bucket, which is gone with this process. */
async function bucket(): Promise<Record<string, string>> {
  const place = await seaweed()
  return {
    S3_ENDPOINT: place.url,
    S3_SPACES_KEY: place.accessKeyId,
    S3_SPACES_SECRET: place.secretAccessKey,
    S3_BUCKET_NAME: place.bucket,
    S3_REGION: place.region,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , rounds = '200', storage = 'disk'] = process.argv
  if (storage === 's3') Object.assign(process.env, await bucket())
  console.log(storage, await killWriters(Number(rounds), storage === 's3' ? 's3' : 'disk'))
}
