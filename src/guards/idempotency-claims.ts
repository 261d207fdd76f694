/**
 * Who carries out a request: of all requests with the same key one wins the claim, by one conditional write. Its
 * response is kept for the others.
 *
 * Where the store writes several records as one, the claim is a part of the record's own write: it says afterwards that
 * the record was written, and who has lost the claim writes nothing. So a claim that was not redeemed can be taken over.
 * Elsewhere, if a process dies between the write and the response, nobody can know whether the record was written, and the
 * key stays claimed until its time is up.
 */

import { unavailable } from '../http/errors/outages.ts'
import { insertOnce, ownSchema, sweep } from '../model/own-records.ts'
import { firstIn } from '../ports/evaluation/walk.ts'
import type { CacheStore } from '../ports/services/cache.ts'
import { withId } from '../ports/store/filter.ts'
import type { Fields } from '../ports/store/records.ts'
import type { CollectionSchema } from '../ports/store/store.ts'
import type { Host } from '../records/engine/host.ts'
import { writesTogether } from '../records/engine/integrity.ts'
import type { Receipt, WrittenIds } from '../records/engine/keyed-writes.ts'
import { keyInUse } from './refusals.ts'

export interface KeptResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** As base64url. */
  readonly body: string
}

/** The state of a key: this request carries it out, or another one does or has done. */
export type Claim =
  | { readonly state: 'won'; readonly owner: string; readonly receipt?: Receipt }
  /** A cache does not know the fingerprint yet. */
  | { readonly state: 'running'; readonly fingerprint?: string }
  /** The record is written, and no response is known. */
  | {
      readonly state: 'written'
      readonly fingerprint: string
      readonly owner: string
      readonly ids: WrittenIds
    }
  | { readonly state: 'done'; readonly fingerprint: string; readonly response: KeptResponse }

/** The claims on keys; `id` is a key at its place. Every function rejects if the store or the cache fails. */
export interface Claims {
  /** `isRecords`: it writes records alone, and nothing before it has checked everything. */
  claim(id: string, fingerprint: string, isRecords: boolean): Promise<Claim>
  keep(id: string, owner: string, fingerprint: string, response: KeptResponse): Promise<void>
  /** Gives a claim back, unless it was redeemed: the next request wins it. Resolves to whether it was given back. */
  release(id: string, owner: string): Promise<boolean>
  /** Removes some of what has expired: more than is claimed meanwhile. */
  sweep(): Promise<void>
}

const claimSchema: CollectionSchema = ownSchema(
  'fieldgate_idempotency_keys',
  {
    ...{ owner: 'string', fingerprint: 'string' },
    // As JSON; missing until the request is carried out.
    response: 'string',
    // The ids of the records, as JSON; empty until the record is written, missing where the two are not one write.
    written: 'string',
    expiresAt: 'date',
  },
  [['expiresAt']],
)

const SWEEP_EVERY = 10
const SWEPT = 20

/** Claims in the app's store: the id of a record can be inserted once. */
export function storeClaims(host: Host, ttlSeconds: number): Claims {
  const collection = host.collection(claimSchema)
  const expiry = () => new Date(host.now() + ttlSeconds * 1000)

  /** Whether claims can be a part of a record's write. */
  const together = async (): Promise<boolean> =>
    (isTogether ??= await writesTogether(host.database))
  let isTogether: boolean | undefined

  /** Takes over a claim that was left, or removes one whose time is up, unless somebody else has since. */
  const takeOver = async (found: Fields, to: Fields): Promise<boolean> => {
    const _id = String(found._id)
    const expect = { owner: found.owner }
    if (isOver(found, host.now())) {
      await collection.delete(withId(_id), { expect })
      return insertOnce(collection, { _id, ...to })
    }
    const set = { owner: to.owner, expiresAt: to.expiresAt }
    const left = { ...expect, written: '' }
    return (await collection.update(withId(_id), { set }, { expect: left })) !== null
  }

  return {
    async claim(_id, fingerprint, isRecords) {
      await host.ready()
      const owner = crypto.randomUUID()
      const isOne = isRecords && (await together())
      const own = { owner, fingerprint, expiresAt: expiry(), ...(isOne && { written: '' }) }
      const won: Claim = { state: 'won', owner, ...(isOne && { receipt: receiptFor(_id, owner) }) }
      const insertion = insertOnce(collection, { _id, ...own })
      const isWon = await insertion.catch(async (error: unknown) => {
        // If only the answer was lost, the key would be in use until its time is up.
        await collection.delete(withId(_id), { expect: { owner } }).catch(() => {})
        throw error
      })
      if (isWon) return won
      const found = await firstIn(collection, withId(_id))
      // Given back at this moment: the client may try again.
      if (!found) return { state: 'running' }
      if (!isOver(found, host.now()) && !isLeft(found, own)) return claimIn(found)
      return (await takeOver(found, own)) ? won : this.claim(_id, fingerprint, isRecords)
    },
    async keep(_id, owner, _, response) {
      const set = { response: JSON.stringify(response), expiresAt: expiry() }
      // A repetition at another process may have got its response meanwhile: every later one gets that.
      await collection.update(withId(_id), { set }, { expect: { owner, response: undefined } })
    },
    async release(_id, owner) {
      const found = await firstIn(collection, withId(_id))
      const written = found?.written === '' ? '' : undefined
      return (await collection.delete(withId(_id), { expect: { owner, written } })) !== null
    },
    async sweep() {
      // Not counted: where processes end soon, such as on Workers and Lambda, none would count so far.
      if (Math.random() < 1 / SWEEP_EVERY) await sweep(collection, host.now(), SWEPT)
    },
  }
}

/** The step that redeems a claim, with the write that it is for. */
function receiptFor(_id: string, owner: string): Receipt {
  return {
    refusal: keyInUse,
    step: (ids) => ({
      in: claimSchema,
      update: withId(_id),
      change: { set: { written: JSON.stringify(ids) } },
      options: { expect: { owner, written: '' } },
    }),
  }
}

/** How long a request may take until another one may take its claim over, in milliseconds. */
export const LEFT_AFTER_MS = 60_000

/** Whether a claim was neither redeemed nor given back in time, and `own` is for the same request. */
function isLeft({ written, fingerprint, expiresAt }: Fields, own: Fields): boolean {
  const age = Number(own.expiresAt) - Number(expiresAt)
  const isSame = own.written === '' && fingerprint === own.fingerprint
  return isSame && written === '' && age > LEFT_AFTER_MS
}

function isOver({ expiresAt }: Fields, now: number): boolean {
  return expiresAt instanceof Date && expiresAt.getTime() <= now
}

function claimIn({ fingerprint: first, response, written, owner }: Fields): Claim {
  const fingerprint = String(first)
  if (typeof response === 'string') {
    return { state: 'done', fingerprint, response: JSON.parse(response) as KeptResponse }
  }
  if (typeof written !== 'string' || written === '') return { state: 'running', fingerprint }
  return {
    ...{ state: 'written', fingerprint, owner: String(owner) },
    ids: JSON.parse(written) as WrittenIds,
  }
}

/** Claims in a cache: the first step of a count can be made once. */
export function cacheClaims(cache: CacheStore, ttlSeconds: number): Claims {
  const claimKey = (id: string) => `idempotency:${id}:claim`
  const responseKey = (id: string) => `idempotency:${id}`
  return {
    async claim(id) {
      try {
        const count = await cache.increment?.(claimKey(id), ttlSeconds)
        if (count === 1) return { state: 'won', owner: '' }
        const text = await cache.get(responseKey(id))
        return text ? { state: 'done', ...JSON.parse(text) } : { state: 'running' }
      } catch (cause) {
        // Without its answer nobody knows whether a request may be carried out.
        throw unavailable(cause)
      }
    },
    async keep(id, _, fingerprint, response) {
      await cache.set(responseKey(id), JSON.stringify({ fingerprint, response }), ttlSeconds)
    },
    async release(id) {
      await cache.set(claimKey(id), '0', ttlSeconds)
      return true
    },
    async sweep() {},
  }
}
