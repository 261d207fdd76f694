/**
 * What the processes of `serve(app, { processes })` have in common: `#processes`.
 *
 * @module
 */

import { isWorker, topic } from './channel.ts'

export { isWorker, topic }

const secrets = topic<string, boolean>('secret')
const known = new Set<string>()

/** Whether the first process has the same secret; that process must call this before it starts workers. */
export async function isSecretOfAll(secret: string): Promise<boolean> {
  if (isWorker) return secrets.ask(await digestOf(secret))
  known.add(secret)
  return true
}

secrets.answer(async (digest) => (await Promise.all([...known].map(digestOf))).includes(digest))

async function digestOf(secret: string): Promise<string> {
  const bytes = new TextEncoder().encode(`fieldgate ${secret}`)
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).join()
}

const counting = topic<readonly [key: string, ttlSeconds: number], number>('count')
/** `until` is by the clock of `performance.now()`. */
const counts = new Map<string, { number: number; readonly until: number }>()
/** Beyond this number, counts that are over are removed, and then the oldest. */
const MAX_COUNTS = 100_000
/** How often those that are over are looked for at most, in milliseconds: in a flood, each new client would be a look at all. */
const LOOK_MS = 1000
let lookedAt = Number.NEGATIVE_INFINITY

/** Adds one to the count under `key` of all processes, kept for `ttlSeconds` at least; undefined where there is one. */
export const countOfAll: ((key: string, ttlSeconds: number) => Promise<number>) | undefined =
  isWorker ? (key, ttlSeconds) => counting.ask([key, ttlSeconds]) : undefined

counting.answer(([key, ttlSeconds]) => {
  const now = performance.now()
  const found = counts.get(key)
  if (found && found.until > now) {
    found.number += 1
    return found.number
  }
  counts.delete(key)
  if (counts.size >= MAX_COUNTS) makeRoom(now)
  counts.set(key, { number: 1, until: now + ttlSeconds * 1000 })
  return 1
})

function makeRoom(now: number): void {
  if (now >= lookedAt + LOOK_MS) {
    lookedAt = now
    for (const [key, { until }] of counts) if (until <= now) counts.delete(key)
  }
  const [oldest] = counts.keys()
  if (counts.size >= MAX_COUNTS && oldest !== undefined) counts.delete(oldest)
}
