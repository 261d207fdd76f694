/**
 * Copies from a source that is written to at any moment: a copy that resolves must be what the source held at one moment.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { newId } from '../../extras/contract/store/people.ts'
import { Random } from '../../extras/contract/store/random.ts'
import { createApp, defineModel, type Model } from '../../src/index.ts'
import type { Copyable } from '../../src/ports/store/copying.ts'
import type { Collection, CollectionSchema, Store } from '../../src/ports/store/store.ts'
import { type CopyOptions, copyRecords } from '../../src/upkeep/copy/copy.ts'
import { CopyMismatch } from '../../src/upkeep/copy/mismatch.ts'

const fields = { name: z.string(), size: z.number() }
const Town = defineModel('Town', { fields })
const Lake = defineModel('Lake', { fields })
const models = [Town, Lake] as unknown as Model[]
const both = [Town, Lake] as const

/** Enough for several batches. */
const TOWNS = 2300

/** Where a test's stores come from; all of them are closed at its end. */
export interface Stores {
  /** The database that is copied, opened once more at each call. */
  source(): Promise<Store>
  /** An empty one to copy to. */
  target(): Promise<Store>
  close(): Promise<void>
}

/** What a record holds, as a number. */
function contentOf(
  model: string,
  { _id, name, size }: { _id: string; name: string; size: number },
): bigint {
  const text = JSON.stringify([model, _id, name, size])
  return createHash('sha256').update(text).digest().readBigUInt64BE()
}

/** Everything in a store as one number, in which the order of records doesn't count. */
async function stateOf(store: Store): Promise<bigint> {
  const app = createApp({ store: { ...store, close: async () => {} } })
  let sum = 0n
  for (const model of both) {
    for (const record of await app.store.collection(model).find({})) {
      sum += contentOf(model.name, record)
    }
  }
  return sum
}

/** A program that writes to the source, and remembers every state that it went through. */
class Writer {
  readonly states = new Set<bigint>()
  writes = 0
  readonly #random: Random
  readonly #records: Record<string, Map<string, { name: string; size: number }>>
  readonly #collections: Record<string, Collection>
  #state = 0n

  constructor(store: Store, random: Random) {
    this.#random = random
    const schemas = both.map(({ collection: name, idType, shape, declared }) => {
      return { name, idType, shape, declared, unique: [], indexes: [], searchable: [] }
    })
    this.#collections = Object.fromEntries(
      both.map(({ name }, at) => [name, store.collection(schemas[at] as CollectionSchema)]),
    )
    this.#records = Object.fromEntries(both.map(({ name }) => [name, new Map()]))
  }

  async fill(): Promise<void> {
    await Promise.all(Array.from({ length: TOWNS }, (_, at) => this.#insert('Town', newId(), at)))
    await Promise.all(Array.from({ length: 20 }, (_, at) => this.#insert('Lake', newId(), at)))
    this.states.clear()
    this.states.add(this.#state)
    this.writes = 0
  }

  /** Writes something; each state in between is remembered before anybody can see it. */
  async write(): Promise<void> {
    const model = this.#random.below(3) === 0 ? 'Lake' : 'Town'
    const ids = [...(this.#records[model]?.keys() ?? [])]
    const id = ids[this.#random.below(ids.length)] ?? newId()
    const { name, size } = this.#records[model]?.get(id) ?? { name: 'none', size: 0 }
    switch (this.#random.below(6)) {
      case 0:
        return this.#insert(model, newId(), this.#random.below(99))
      case 1:
        return this.#remove(model, id)
      case 2:
        // There and back: nothing has changed for who looks later.
        await this.#update(model, id, size + 1)
        return this.#update(model, id, size)
      case 3: {
        const passing = newId()
        await this.#insert(model, passing, 1)
        return this.#remove(model, passing)
      }
      case 4:
        await this.#remove(model, id)
        return this.#insert(model, id, size, name)
      default:
        return this.#update(model, id, this.#random.below(1e6))
    }
  }

  async #insert(model: string, _id: string, size: number, name = `n${size}`): Promise<void> {
    this.#now(model, _id, { name, size })
    await this.#collections[model]?.insert({ _id, name, size })
  }

  async #remove(model: string, _id: string): Promise<void> {
    this.#now(model, _id, undefined)
    await this.#collections[model]?.delete({ op: 'eq', field: '_id', value: _id })
  }

  async #update(model: string, _id: string, size: number): Promise<void> {
    const before = this.#records[model]?.get(_id)
    if (!before) return
    this.#now(model, _id, { ...before, size })
    await this.#collections[model]?.update(
      { op: 'eq', field: '_id', value: _id },
      { set: { size } },
    )
  }

  #now(model: string, _id: string, value: { name: string; size: number } | undefined): void {
    const records = this.#records[model]
    const before = records?.get(_id)
    if (before) this.#state -= contentOf(model, { _id, ...before })
    records?.delete(_id)
    if (value) {
      records?.set(_id, value)
      this.#state += contentOf(model, { _id, ...value })
    }
    this.states.add(this.#state)
    this.writes += 1
  }
}

/** The same store, with `act` before each call that a copy makes. */
function interrupted(store: Store, act: () => Promise<void>): Store {
  const before =
    <Given extends unknown[], T>(call: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      await act()
      return call(...given)
    }
  const { watch, exact, ...copying } = store.copying ?? {}
  const slowly = (side: Copyable<Uint8Array>): Copyable<Uint8Array> => ({
    ...side,
    count: before(side.count),
    counterparts: before(side.counterparts),
    async *batches() {
      await act()
      for await (const batch of side.batches()) {
        yield batch
        await act()
      }
    },
  })
  return {
    ...store,
    collection(schema) {
      const collection = store.collection(schema)
      return { ...collection, find: before(collection.find), count: before(collection.count) }
    },
    copying: {
      ...copying,
      ...(watch && {
        watch: before(async (names: readonly string[]) => {
          const watched = await watch(names)
          return watched && { ...watched, written: before(watched.written) }
        }),
      }),
      ...(exact && { exact: (schema: CollectionSchema) => slowly(exact(schema)) }),
    },
  }
}

/** How one copy ended. */
interface End {
  readonly writes: number
  /** What it said, if it did not find both sides equal. */
  readonly refusal: string | undefined
  /** Whether another copy without a writer made both sides equal. */
  readonly isCompleted: boolean
}

/** Copies a source of `stores` while it is written to, and checks what the copy said. */
async function copied(stores: Stores, seed: number): Promise<End> {
  const random = new Random(seed)
  const source = await stores.source()
  await source.prepare(models.map(schemaOf))
  const writer = new Writer(source, random)
  await writer.fill()
  // From no writes over a few, some of them late, to many.
  const permille = [0, 30, 100, 500][seed % 4] ?? 0
  const act = async () => {
    while (random.below(1000) < permille) await writer.write()
  }
  const target = await stores.target()
  const error = await failureOf(interrupted(await stores.source(), act), target)
  const { writes } = writer
  const where = `seed ${seed}, ${writes} writes`
  if (!error) {
    expect(writer.states.has(await stateOf(target)), where).toBe(true)
    return { writes, refusal: undefined, isCompleted: true }
  }
  expect(error, where).toBeInstanceOf(CopyMismatch)
  expect(error.message, where).toMatch(/the source was written to/i)
  expect(error.message, where).not.toMatch(/-\d/)
  expect(writes, where).toBeGreaterThan(0)
  const again = await failureOf(source, target)
  if (again) expect(again.message, where).toMatch(/Nothing wrote to the source .* empty target/)
  else expect(await stateOf(target), where).toBe(await stateOf(source))
  return { writes, refusal: error.message, isCompleted: !again }
}

function failureOf(from: Store, to: Store, options?: CopyOptions): Promise<Error | undefined> {
  return copyRecords(from, to, models, options).then(
    () => undefined,
    (error: Error) => error,
  )
}

/** Copies sources of `open` while they are written to; `rounds` is how many. */
export function copiesUnderWrites(kind: string, open: () => Promise<Stores>, rounds: number): void {
  describe(`a copy from ${kind} while it is written to`, () => {
    it('is what the source held at one moment, or says that it was written to', async () => {
      const ends: End[] = []
      for (let seed = 0; seed < rounds; seed += 1) {
        const stores = await open()
        ends.push(await copied(stores, seed))
        await stores.close()
      }
      const refused = ends.filter(({ refusal }) => refusal !== undefined)
      const equal = ends.filter(({ refusal }) => refusal === undefined)
      const writes = ends.reduce((sum, end) => sum + end.writes, 0)
      console.log(
        `${kind}: ${rounds} copies, ${writes} writes meanwhile; ${equal.length} equal, ` +
          `${equal.filter((end) => end.writes > 0).length} of them though written to; ${refused.length} refused, ` +
          `${refused.filter(({ isCompleted }) => isCompleted).length} of them completed by a second copy`,
      )
      expect(equal.length).toBeGreaterThan(0)
      expect(refused.length).toBeGreaterThan(0)
    })

    it('is not taken for equal where both sides look the same, but the source never was like that', async () => {
      const stores = await open()
      const store = await stores.source()
      await store.prepare(models.map(schemaOf))
      const [town, lake] = models.map((model) => store.collection(schemaOf(model)))
      const [_id, name] = [newId(), 'one']
      for (const collection of [town, lake]) await collection?.insert({ _id, name, size: 1 })
      const sized = async (collection: Collection | undefined, size: number) => {
        await collection?.update({ op: 'eq', field: '_id', value: _id }, { set: { size } })
      }
      // The town is always 1 when it is looked at, and the lake 2, but never both.
      const swaps = new Map([
        ['copying lakes', () => sized(town, 2).then(() => sized(lake, 2))],
        ['comparing towns', () => sized(lake, 1).then(() => sized(town, 1))],
        ['comparing lakes', () => sized(town, 2).then(() => sized(lake, 2))],
      ])
      let pass = ''
      const from = interrupted(await stores.source(), async () => {
        const swap = swaps.get(pass)
        swaps.delete(pass)
        await swap?.()
      })
      const start = (begun: string) => {
        pass = begun
      }
      const failure = await failureOf(from, await stores.target(), { start })
      expect(swaps.size).toBe(0)
      expect(failure?.message).toBe(
        'the source was written to during the copy, so it is not certain that both sides are equal. Stop whatever writes to the source, and copy again.',
      )
      await stores.close()
    })
  })
}

function schemaOf({ collection: name, idType, shape, declared }: Model): CollectionSchema {
  return { name, idType, shape, declared, unique: [], indexes: [], searchable: [] }
}
