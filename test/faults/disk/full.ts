/**
 * Fills the disk of a server over SQLite and a folder of files, looks at what it does meanwhile, makes room, and compares
 * what is stored with what was acknowledged: `npm run faults -- disk`.
 *
 * @module
 */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { form } from '../../uploads/png.ts'
import { allNotes, keepWriting, type Reply, send } from '../notes/clients.ts'
import { Ledger, type StoredNote, type Verdict } from '../notes/ledger.ts'
import { type NotesProcess, startNotes } from '../notes/process.ts'
import { part, total } from '../report.ts'
import { type SmallDisk, smallDisk } from './small-disk.ts'

/** What a full disk has come to. */
export interface FullToll extends Verdict {
  readonly disk: SmallDisk['kind']
  readonly acknowledged: number
  /** Writes of records and of files that were answered with the 503 that is promised. */
  readonly refused: number
  readonly refusedFiles: number
  /** What else was answered while the disk was full, one line each. */
  readonly wrong: readonly string[]
  /** Reads that were answered with 200 while the disk was full. */
  readonly reads: number
  /** Records without their whole file, and what a cut write has left. */
  readonly halfFiles: number
  /** Whole files whose record was refused, which the sweeper removes. */
  readonly orphans: number
  /** From the room to the first acknowledged write of a record with a file. */
  readonly secondsToRecover: number
}

/** How it fills the disk. */
export interface FullOptions {
  readonly rounds: number
  readonly writers: number
  /** Refused writes after which the disk counts as full. */
  readonly refusals: number
}

const UNAVAILABLE = 'The service is unavailable. Try again shortly.'
const NO_STORAGE = 'File storage is unavailable.'
/** Characters of a note, so that the disk is soon full. */
const PADDING = 8000
/** Bytes of the smallest file. */
const MIN_FILE = 50_000

/** One disk, filled once by a server on this runtime. */
export async function fillDisk(
  options: Omit<FullOptions, 'rounds'>,
  runtime = 'node',
): Promise<FullToll> {
  const disk = await smallDisk()
  const { folder } = disk
  const server = await startNotes(
    { store: join(folder, 'notes.db'), files: join(folder, 'files') },
    disk.wrapper,
    runtime,
  )
  try {
    return await filled(disk, server, options)
  } finally {
    await server.kill()
    await disk.remove()
  }
}

async function filled(
  disk: SmallDisk,
  server: NotesProcess,
  { writers, refusals }: Omit<FullOptions, 'rounds'>,
): Promise<FullToll> {
  const { url, pid } = server
  const ledger = new Ledger()
  const full = new AbortController()
  const wrong: string[] = []
  let [refused, refusedFiles] = [0, 0]
  const onFailure = (reply: Reply | undefined) => {
    const said = reply && [reply.status, reply.headers.get('retry-after'), reply.body.error].join()
    if (said === `503,5,${UNAVAILABLE}`) refused += 1
    else if (said === `503,5,${NO_STORAGE}`) refusedFiles += 1
    else wrong.push(String(said))
    if (refused >= refusals && refusedFiles >= 3) full.abort()
  }
  const clients = { url: () => url, ledger, signal: full.signal, refusalIsCertain: true, onFailure }
  await Promise.all([
    keepWriting({ ...clients, count: writers, most: 10_000, padding: PADDING }),
    keepUploading(url, ledger, full.signal, onFailure),
  ])

  const during = await allNotes(url)
  const verdicts = [ledger.verdict(during)]
  const reads = await readAll(url, during)
  const files = await countFiles(url, join(disk.seenFrom(pid), 'files'), during)

  const roomAt = performance.now()
  await disk.makeRoom(pid)
  while ((await upload(url, ledger))?.status !== 201) await delay(10)
  const secondsToRecover = (performance.now() - roomAt) / 1000
  verdicts.push(ledger.verdict(await allNotes(url)))
  const { acknowledged } = ledger
  const counts = { acknowledged, refused, refusedFiles, reads, ...files, secondsToRecover }
  return { disk: disk.kind, ...total(verdicts), ...counts, wrong }
}

async function keepUploading(
  url: string,
  ledger: Ledger,
  signal: AbortSignal,
  onFailure: (reply: Reply | undefined) => void,
): Promise<void> {
  while (!signal.aborted) {
    const reply = await upload(url, ledger)
    if (reply?.status !== 201) onFailure(reply)
  }
}

/** A note with a file of up to half a megabyte. */
async function upload(url: string, ledger: Ledger): Promise<Reply | undefined> {
  const [label, n] = [crypto.randomUUID(), ledger.newValue()]
  const file = new Uint8Array(MIN_FILE + Math.floor(Math.random() * 9 * MIN_FILE)).fill(1)
  file.set(new TextEncoder().encode('%PDF-1.7\n'))
  ledger.sent(label, n)
  const reply = await send('POST', `${url}/notes`, form({ label, n: `${n}`, file }))
  if (reply?.status === 201) ledger.acknowledge(label, n)
  else if (reply) ledger.refused(label, n)
  return reply
}

/** How many notes are read, one by one, with 200. */
async function readAll(url: string, notes: readonly StoredNote[]): Promise<number> {
  const replies = await Promise.all(notes.map(({ _id }) => send('GET', `${url}/notes/${_id}`)))
  return replies.filter((reply) => reply?.status === 200).length
}

async function countFiles(
  url: string,
  folder: string,
  notes: readonly StoredNote[],
): Promise<Pick<FullToll, 'halfFiles' | 'orphans'>> {
  const files = notes.flatMap(({ file }) => file ?? [])
  const bodies = files.map(async (file) => {
    const response = await fetch(new URL(file, url))
    const { byteLength } = await response.arrayBuffer()
    return response.ok && byteLength >= MIN_FILE
  })
  const unreadable = (await Promise.all(bodies)).filter((isWhole) => !isWhole).length
  const stored = await filesBelow(join(folder, 'objects'))
  const described = await filesBelow(join(folder, 'meta'))
  const begun = await filesBelow(join(folder, 'incoming'))
  return {
    halfFiles: unreadable + Math.abs(stored - described) + begun,
    orphans: stored - files.length,
  }
}

async function filesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

/** `npm run faults -- disk`. */
export const disk = part({
  about: 'a full disk below SQLite and a folder of files',
  options: { rounds: 5, writers: 8, refusals: 200 },
  async run({ rounds, ...options }) {
    const rows = []
    let holds = true
    for (let round = 0; round < rounds; round += 1) {
      const { wrong, secondsToRecover, ...toll } = await fillDisk(options)
      for (const line of wrong) console.log(`answered: ${line}`)
      const { lost, phantom, resurrected, duplicate, halfFiles } = toll
      holds &&= lost + phantom + resurrected + duplicate + halfFiles + wrong.length === 0
      rows.push({
        ...toll,
        'other answers': wrong.length,
        'recovered after s': secondsToRecover.toFixed(2),
      })
    }
    return { rows, holds }
  },
})
