/**
 * Records of which there are so few that steps meet all the time, and steps that read and write them at random.
 *
 * @module
 */

import * as z from 'zod'
import { createApp, defineModel, type RecordCollection, type Store } from '../../../src/index.ts'

const fields = { value: z.int(), group: z.int() }
export const MODELS = [
  defineModel('SerialOne', { fields }),
  defineModel('SerialOther', { fields }),
] as const
export const IDS = ['1', '2', '3'].map((digit) => digit.padStart(24, '0'))

/** What a step does: each in a model. */
export type Deed = { readonly model: 0 | 1 } & (
  | { readonly get: string }
  | { readonly one: number }
  | { readonly ids: readonly string[] }
  | { readonly update: string; readonly value: number; readonly group: number }
  | { readonly remove: string }
  | { readonly insert: string; readonly value: number; readonly group: number }
)

/** A step that was stored: what it did, and what each deed told. */
export interface Call {
  readonly start: number
  readonly end: number
  readonly deeds: readonly Deed[]
  readonly told: readonly unknown[]
}

export interface Held {
  readonly _id: string
  readonly value: number
  readonly group: number
}

/** What was told of records. */
export function shown(records: readonly (Held | null | undefined)[]): string {
  return records.map((one) => one && `${one._id.at(-1)}: ${one.value} in ${one.group}`).join()
}

async function done(of: RecordCollection<Omit<Held, '_id'>>, deed: Deed): Promise<unknown> {
  if ('get' in deed) return shown([await of.findById(deed.get)])
  if ('one' in deed) return shown([await of.findOne({ group: deed.one })])
  if ('ids' in deed) return shown(await of.find({ _id: [...deed.ids] }, { sort: '_id' }))
  if ('remove' in deed) return of.delete(deed.remove)
  const { value, group } = deed
  if ('update' in deed) return shown([await of.update(deed.update, { value, group })])
  return shown([await of.insert({ _id: deed.insert, value, group })])
}

const below = (most: number) => Math.floor(Math.random() * most)
let made = 0

function anyDeed(): Deed {
  const model = below(2) as 0 | 1
  const [id = '', other = ''] = [IDS[below(3)], IDS[below(3)]]
  made += 1
  const written = { value: made, group: below(2) }
  const deeds: readonly Deed[] = [
    { model, get: id },
    { model, one: below(2) },
    { model, ids: [...new Set([id, other])] },
    { model, update: id, ...written },
    { model, remove: id },
    { model, insert: id, ...written },
  ]
  return deeds[below(deeds.length)] as Deed
}

/** Steps of several clients at once over the stores, which are one place; those that were stored. */
export async function stepsOver(stores: readonly Store[], each: number): Promise<readonly Call[]> {
  const apps = stores.map((store) => createApp({ store, env: {} }))
  for (const app of apps) for (const model of MODELS) await app.store.collection(model).count()
  const calls: Call[] = []
  const client = async (_: unknown, at: number) => {
    for (let round = 0; round < each; round += 1) {
      const deeds = Array.from({ length: 1 + below(4) }, anyDeed)
      const told: unknown[] = []
      const start = performance.now()
      const step = apps[at % apps.length]?.store.atomic(async (tx) => {
        told.length = 0
        for (const deed of deeds) {
          told.push(await done(tx.collection(MODELS[deed.model]), deed))
          // Others get a turn.
          if (below(2)) await new Promise((resolve) => setTimeout(resolve, below(3)))
        }
      })
      const isStored = await step?.then(() => true, isRefusal)
      if (isStored) calls.push({ start, end: performance.now(), deeds, told })
    }
  }
  await Promise.all(Array.from({ length: 6 }, client))
  for (const app of apps) await app.close()
  return calls
}

/** False for the 409 of an id that is taken, or of a step that was overtaken: nothing was stored. */
function isRefusal(error: { status?: number }): false {
  if (error.status !== 409) throw error
  return false
}
