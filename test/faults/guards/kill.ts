/**
 * Kills a server with `kill -9` at random moments while clients write with idempotency keys, starts it again, and repeats
 * every request: `npm run faults -- idempotency`.
 *
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { part } from '../report.ts'
import { startGuarded } from './process.ts'
import type { GuardedOptions } from './server.ts'

/** What the repetitions have come to. */
export interface KeyToll {
  readonly kills: number
  readonly keys: number
  /** Requests that a kill has cut off. */
  readonly cut: number
  /** Of those, how many got a 201 when they were repeated, and how many a 409. */
  readonly cutThenCreated: number
  readonly cutThenUnknown: number
  /** Of those with a 409, how many had written their record. */
  readonly unknownButWritten: number
  /** Keys with more than one record. */
  readonly twice: number
  /** Responses that a repetition has not got again, to the byte. */
  readonly changed: number
  /** Repetitions that got anything but a 201 or a 409. */
  readonly other: number
}

/** How it kills. */
export interface KeyKillOptions {
  readonly rounds: number
  readonly writers: number
  /** The longest that a server lives under writes, in milliseconds. */
  readonly longestMs: number
  readonly cache?: GuardedOptions['cache']
}

interface Reply {
  readonly status: number
  readonly text: string
}

/** Kills as many servers as there are rounds, one after the other, over one file. */
export async function killKeys(options: KeyKillOptions): Promise<KeyToll> {
  const { rounds, writers, longestMs, cache } = options
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-faults-'))
  const served = { store: join(folder, 'notes.db'), ...(cache !== undefined && { cache }) }
  const replies = new Map<string, Reply | undefined>()
  let server = await startGuarded(served)
  try {
    for (let round = 0; round < rounds; round += 1) {
      let isOver = false
      let acknowledged = 0
      const write = async (writer: number): Promise<void> => {
        for (let at = 0; !isOver; at += 1) {
          const key = `${round}-${writer}-${at}`
          replies.set(key, undefined)
          const reply = await post(server.url, key)
          replies.set(key, reply)
          if (reply) acknowledged += 1
        }
      }
      const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
      // A kill before the first write would test nothing.
      while (acknowledged === 0) await delay(5)
      await delay(Math.random() * longestMs)
      await server.kill()
      isOver = true
      await writing
      server = await startGuarded(served)
    }
    return await repeated(server.url, replies, rounds)
  } finally {
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Repeats every request, and looks for the records of each. */
async function repeated(
  url: string,
  replies: ReadonlyMap<string, Reply | undefined>,
  kills: number,
): Promise<KeyToll> {
  const seen: Repetition[] = []
  for (const [key, first] of replies) {
    const again = await post(url, key)
    seen.push({ first, again, records: await countOf(url, key) })
  }
  const cut = seen.filter(({ first }) => first === undefined)
  const unknown = cut.filter(({ again }) => again?.status === 409)
  const number = (test: (repetition: Repetition) => boolean) => seen.filter(test).length
  return {
    kills,
    keys: replies.size,
    cut: cut.length,
    cutThenCreated: cut.length - unknown.length,
    cutThenUnknown: unknown.length,
    unknownButWritten: unknown.filter(({ records }) => records > 0).length,
    twice: number(({ records }) => records > 1),
    changed: number(({ first, again }) => first !== undefined && first.text !== again?.text),
    other: number(({ again }) => again?.status !== 201 && again?.status !== 409),
  }
}

/** What came of a request, of its repetition, and how many records there are. */
interface Repetition {
  readonly first: Reply | undefined
  readonly again: Reply | undefined
  readonly records: number
}

/** Creates the note with this label under this key; undefined if no response came. */
async function post(url: string, key: string): Promise<Reply | undefined> {
  try {
    const response = await fetch(`${url}/notes`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ label: key }),
    })
    return { status: response.status, text: await response.text() }
  } catch {
    return undefined
  }
}

async function countOf(url: string, label: string): Promise<number> {
  const response = await fetch(`${url}/notes?label=${label}`)
  return ((await response.json()) as { data: unknown[] }).data.length
}

/** `npm run faults -- idempotency`. */
export const idempotency = part({
  about: 'kill -9 of a server while clients write with idempotency keys, on SQLite',
  options: { rounds: 40, writers: 16, longestMs: 800 },
  async run(options) {
    const toll = await killKeys(options)
    return { rows: [{ ...toll }], holds: toll.twice + toll.changed + toll.other === 0 }
  },
})
