/**
 * Who carries out a request: of all requests with the same key one wins the claim, by one conditional write. Its
 * response is kept for the others.
 *
 * A claim is never taken over. If a process dies between the write and the response, nobody can know whether the record
 * was written, so the key stays claimed until its time is up.
 *
 * @module
 */

import { unavailable } from '../http/outages.ts'
import type { CacheStore } from '../ports/cache.ts'
import { withId } from '../ports/filter.ts'
import { type CollectionSchema, DuplicateKey, type Fields } from '../ports/store.ts'
import type { Host } from '../records/engine/host.ts'

/** A response that is repeated. */
export interface KeptResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** As base64url. */
  readonly body: string
}

/** The state of a key: this request carries it out, or another one does or has done. */
export type Claim =
  | { readonly state: 'won'; readonly owner: string }
  /** A cache does not know the fingerprint yet. */
  | { readonly state: 'running'; readonly fingerprint?: string }
  | { readonly state: 'done'; readonly fingerprint: string; readonly response: KeptResponse }

/** The claims on keys; `id` is a key at its place. Every function rejects if the store or the cache fails. */
export interface Claims {
  claim(id: string, fingerprint: string): Promise<Claim>
  /** Keeps the response of a claim that was won. */
  keep(id: string, owner: string, fingerprint: string, response: KeptResponse): Promise<void>
  /** Gives a claim back: the next request wins it. */
  release(id: string, owner: string): Promise<void>
  /** Removes some of what has expired: more than is claimed meanwhile. */
  sweep(): Promise<void>
}

/** The collection of the claims. */
const claimSchema: CollectionSchema = {
  name: 'fieldgate_idempotency_keys',
  idType: 'objectId',
  shape: {
    kind: 'object',
    fields: new Map([
      ['_id', { kind: 'id', idType: 'objectId' }],
      ['owner', { kind: 'string' }],
      ['fingerprint', { kind: 'string' }],
      // As JSON; missing until the request is carried out.
      ['response', { kind: 'string' }],
      ['expiresAt', { kind: 'date' }],
    ]),
  },
  unique: [],
  indexes: [[{ field: 'expiresAt', descending: false }]],
  searchable: [],
}

const SWEEP_EVERY = 10
const SWEPT = 20

/** Claims in the app's store: the id of a record can be inserted once. */
export function storeClaims(host: Host, ttlSeconds: number): Claims {
  const collection = host.collection(claimSchema)
  const expiry = () => new Date(host.now() + ttlSeconds * 1000)
  let claimed = 0

  const insert = async (record: Fields): Promise<boolean> => {
    try {
      await collection.insert(record)
      return true
    } catch (error) {
      if (error instanceof DuplicateKey) return false
      throw error
    }
  }

  return {
    async claim(_id, fingerprint) {
      await host.ready()
      const owner = crypto.randomUUID()
      if (await insert({ _id, owner, fingerprint, expiresAt: expiry() })) {
        return { state: 'won', owner }
      }
      const [found] = await collection.find({ filter: withId(_id), sort: [], limit: 1 })
      if (found && isOver(found, host.now())) {
        // Only if nobody else has removed it and claimed the key since.
        await collection.delete(withId(_id), { expect: { owner: found.owner } })
        return this.claim(_id, fingerprint)
      }
      // Given back at this moment: the client may try again.
      return found ? claimIn(found) : { state: 'running' }
    },
    async keep(_id, owner, _, response) {
      const set = { response: JSON.stringify(response), expiresAt: expiry() }
      await collection.update(withId(_id), { set }, { expect: { owner } })
    },
    async release(_id, owner) {
      await collection.delete(withId(_id), { expect: { owner } })
    },
    async sweep() {
      claimed += 1
      if (claimed % SWEEP_EVERY !== 0) return
      const expired = { op: 'lt', field: 'expiresAt', value: new Date(host.now()) } as const
      for (let swept = 0; swept < SWEPT; swept += 1) {
        if ((await collection.delete(expired)) === null) return
      }
    },
  }
}

function isOver({ expiresAt }: Fields, now: number): boolean {
  return expiresAt instanceof Date && expiresAt.getTime() <= now
}

function claimIn({ fingerprint, response }: Fields): Claim {
  const first = String(fingerprint)
  if (typeof response !== 'string') return { state: 'running', fingerprint: first }
  return { state: 'done', fingerprint: first, response: JSON.parse(response) as KeptResponse }
}

/** Claims in a cache: the first step of a count can be made once. */
export function cacheClaims(cache: CacheStore, ttlSeconds: number): Claims {
  const claimKey = (id: string) => `idempotency:${id}:claim`
  const responseKey = (id: string) => `idempotency:${id}`
  return {
    async claim(id) {
      const [count, text] = await reached(async () => {
        const count = await cache.increment?.(claimKey(id), ttlSeconds)
        return [count, count === 1 ? undefined : await cache.get(responseKey(id))] as const
      })
      if (count === 1) return { state: 'won', owner: '' }
      return text ? { state: 'done', ...(JSON.parse(text) as KeptInCache) } : { state: 'running' }
    },
    async keep(id, _, fingerprint, response) {
      const kept: KeptInCache = { fingerprint, response }
      await cache.set(responseKey(id), JSON.stringify(kept), ttlSeconds)
    },
    async release(id) {
      await cache.set(claimKey(id), '0', ttlSeconds)
    },
    async sweep() {},
  }
}

/** What a cache holds of a request that was carried out. */
type KeptInCache = Pick<Extract<Claim, { state: 'done' }>, 'fingerprint' | 'response'>

/** Without its answer nobody knows whether a request may be carried out. */
async function reached<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    throw unavailable(cause)
  }
}
