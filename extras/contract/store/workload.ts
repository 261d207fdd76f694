/** A random workload whose results must equal those of the naive oracle. */

import { position } from '../../../src/ports/evaluation/evaluate.ts'
import { all, everything, type Filter, withId } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Collection, Store, WriteOutcome, WriteStep } from '../../../src/ports/store/store.ts'
import { DuplicateKey } from '../../../src/ports/store/store-errors.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { Oracle, Taken } from './oracle.ts'
import { people } from './people.ts'
import { Random, randomChange, randomFields, randomFilter, randomSort } from './random.ts'

const OPERATIONS = 500
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

/** Five thousand operations, five hundred from each seed. */
export const workloads: Contract<Store> = Object.fromEntries(
  SEEDS.map((seed) => [
    `a random workload is answered as by a naive store in memory (seed ${seed})`,
    (store: Store) => work(store, seed),
  ]),
)

async function work(store: Store, seed: number): Promise<void> {
  await store.prepare([people])
  const run = new Run(store, new Random(seed))
  for (let at = 0; at < OPERATIONS; at += 1) {
    await run.step().catch((error: unknown) => {
      const { asked } = run
      throw new Error(`operation ${at} of seed ${seed}: ${JSON.stringify(asked)}\n${error}`, {
        cause: error,
      })
    })
  }
  deepEqual(await run.everyRecord(), run.oracle.all())
}

class Run {
  readonly oracle = new Oracle(people.unique)
  /** The last call, for the message of a failure. */
  asked: unknown
  readonly #store: Store
  readonly #collection: Collection
  readonly #random: Random
  #made = 0

  constructor(store: Store, random: Random) {
    this.#store = store
    this.#collection = store.collection(people)
    this.#random = random
  }

  step(): Promise<void> {
    const choice = this.#random.below(100)
    if (choice < 25) return this.#insert()
    if (choice < 45) return this.#update()
    if (choice < 50) return this.#updateMany()
    if (choice < 58) return this.#delete()
    if (choice < 64 && this.#store.write) return this.#write(this.#store.write)
    return choice < 92 ? this.#find() : this.#count()
  }

  everyRecord(): Promise<Fields[]> {
    const sort = [{ field: '_id', descending: false }]
    return this.#collection.find({ filter: everything, sort, limit: OPERATIONS })
  }

  async #write(write: NonNullable<Store['write']>): Promise<void> {
    const steps = [this.#writeStep(), ...this.#random.list(4, () => this.#writeStep())]
    this.asked = { write: steps.map(({ in: _, ...action }) => action) }
    await this.#same(
      async () => inOrder(await write.call(this.#store, steps)),
      () => inOrder(this.oracle.write(steps)),
    )
  }

  #writeStep(): WriteStep {
    const random = this.#random
    const choice = random.below(100)
    const expect = this.#expectation()
    const options = expect && { options: { expect } }
    if (choice < 30) return { in: people, insert: this.#newRecord() }
    if (choice < 55) {
      return { in: people, update: this.#one(), change: randomChange(random, true), ...options }
    }
    if (choice < 65) {
      return { in: people, updateMany: randomFilter(random), change: randomChange(random, false) }
    }
    if (choice < 75) return { in: people, delete: this.#one(), ...options }
    if (choice < 80) return { in: people, deleteMany: all([this.#one(), randomFilter(random)]) }
    return { in: people, require: randomFilter(random), exists: random.chance(70) }
  }

  /** Rarely, its id is taken. */
  #newRecord(): Fields {
    const taken = this.#random.chance(3)
    if (!taken) this.#made += 1
    const _id = this.#made.toString(16).padStart(24, '0')
    return { _id, ...randomFields(this.#random) }
  }

  async #insert(): Promise<void> {
    const record = this.#newRecord()
    this.asked = { insert: record }
    await this.#same(
      () => this.#collection.insert(record),
      () => this.oracle.insert(record),
    )
  }

  async #update(): Promise<void> {
    const filter = this.#one()
    const change = randomChange(this.#random, true)
    const expect = this.#expectation()
    this.asked = { update: filter, change, expect }
    await this.#same(
      () => this.#collection.update(filter, change, expect && { expect }),
      () => this.oracle.update(filter, change, expect),
    )
  }

  async #updateMany(): Promise<void> {
    const filter = randomFilter(this.#random)
    const change = randomChange(this.#random, false)
    this.asked = { updateMany: filter, change }
    await this.#same(
      () => this.#collection.updateMany(filter, change),
      () => this.oracle.updateMany(filter, change),
    )
  }

  async #delete(): Promise<void> {
    const filter = this.#one()
    const expect = this.#expectation()
    this.asked = { delete: filter, expect }
    await this.#same(
      () => this.#collection.delete(filter, expect && { expect }),
      () => this.oracle.delete(filter, expect),
    )
  }

  async #find(): Promise<void> {
    const random = this.#random
    const sort = randomSort(random)
    const [anchor] = random.chance(40) ? this.#some() : []
    const named = anchor && this.#collection.seeksRecords && random.chance(50)
    const read = {
      filter: randomFilter(random),
      sort,
      limit: random.chance(30) ? 1000 : 1 + random.below(10),
      ...(random.chance(20) && { skip: random.below(5) }),
      ...(anchor &&
        (named ? { afterRecord: idIs(anchor) } : { after: position(sort, anchor, people) })),
    }
    this.asked = { find: read }
    const expected = this.oracle.find(read)
    deepEqual(await this.#collection.find(read), expected)
    if (random.chance(70)) return
    const texts = await this.#collection.findJson?.(read)
    if (!texts) return
    deepEqual(
      texts.map((text) => JSON.parse(text)),
      JSON.parse(JSON.stringify(expected)),
    )
    ok(texts.every((text) => text.startsWith('{"_id":"')))
  }

  async #count(): Promise<void> {
    const filter = randomFilter(this.#random)
    this.asked = { count: filter }
    equal(await this.#collection.count(filter), this.oracle.count(filter))
  }

  /** A filter that at most one record matches: no promise says which of several is written. */
  #one(): Filter {
    const value = this.#random
      .below(this.#made + 1)
      .toString(16)
      .padStart(24, '0')
    const byId: Filter = { op: 'eq', field: '_id', value }
    return this.#random.chance(80) ? byId : all([byId, randomFilter(this.#random)])
  }

  /** One of the records, if there are any. */
  #some(): Fields[] {
    return this.oracle.find({
      filter: everything,
      sort: [],
      skip: this.#random.below(this.oracle.count(everything) + 1),
      limit: 1,
    })
  }

  /** The values of some record, or values that probably none has. */
  #expectation(): Fields | undefined {
    const [record] = this.#some()
    if (!record || !this.#random.chance(20)) return undefined
    const { _id, ...held } = record
    const [field, value] = this.#random.of(
      Object.entries({ name: undefined, ...held }) as [[string, unknown]],
    )
    const expected = this.#random.chance(20) ? undefined : value
    return this.#isInOtherOrder(field, expected) ? undefined : { [field]: expected }
  }

  /** Whether a record holds the value with its members in another order: no promise says whether that is the same. */
  #isInOtherOrder(field: string, value: unknown): boolean {
    return this.oracle.all().some((record) => {
      const held = record[field]
      return (
        JSON.stringify(held) !== JSON.stringify(value) && sortedText(held) === sortedText(value)
      )
    })
  }

  async #same<T>(ask: () => Promise<T>, expect: () => T): Promise<void> {
    let expected: T
    try {
      expected = expect()
    } catch (error) {
      if (!(error instanceof Taken)) throw error
      const refusal = await ask().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      ok(refusal instanceof DuplicateKey, String(refusal))
      const { fields } = refusal
      ok(
        error.sets.some((set) => set.join() === fields.join()),
        `${fields} of ${error.sets.join(' or ')}`,
      )
      return
    }
    deepEqual(await ask(), expected)
  }
}

function idIs({ _id }: Fields): Filter {
  return withId(String(_id))
}

/** The outcome with the removed records of each step by id: no promise says in which order they come. */
function inOrder(outcome: WriteOutcome): WriteOutcome {
  if ('failed' in outcome) return outcome
  const byId = (a: Fields, b: Fields) => (String(a._id) < String(b._id) ? -1 : 1)
  return {
    results: outcome.results.map((result) => ({
      ...result,
      records: result.records.toSorted(byId),
    })),
  }
}

/** JSON with the members of objects in the order of their names. */
function sortedText(value: unknown): string | undefined {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member !== 'object' || member === null || Array.isArray(member)
      ? member
      : Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))),
  )
}
