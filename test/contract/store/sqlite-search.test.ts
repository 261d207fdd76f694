import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { everything, type Filter } from '../../../src/ports/filter.ts'
import { fold } from '../../../src/ports/fold.ts'
import type { Collection, CollectionSchema, Fields } from '../../../src/ports/store.ts'
import { containing, keys, reading, where } from './ask.ts'
import { newFile, rowsOf } from './file.ts'
import { people, person } from './people.ts'
import { Random } from './random.ts'

/** Few characters, so that texts and terms meet often; some are quotes, wildcards and more than one UTF-16 unit. */
const LETTERS = ['a', 'b', 'A', 'ß', 'é', 'É', '"', '%', '_', "'", '東', '京', '🏙️', ' ', '\0', '\\']
const FIELDS = ['name', 'tags', 'address.city'] as const

function textOf(random: Random, most: number): string {
  const length = random.below(most + 1)
  return Array.from({ length }, () => LETTERS[random.below(LETTERS.length)]).join('')
}

function fieldsOf(random: Random): Fields {
  return {
    ...(random.chance(80) && { name: textOf(random, 12) }),
    ...(random.chance(60) && {
      tags: Array.from({ length: random.below(4) }, () => textOf(random, 6)),
    }),
    ...(random.chance(60) && { address: { city: textOf(random, 8) } }),
  }
}

/** What a look at every record finds. */
function holds(record: Fields, field: (typeof FIELDS)[number], term: string): boolean {
  const { name, tags, address } = record as {
    name?: string
    tags?: string[]
    address?: { city?: string }
  }
  const texts = { name: [name], tags: tags ?? [], 'address.city': [address?.city] }[field]
  return texts.some((text) => text !== undefined && fold(text).includes(fold(term)))
}

/** Changes `records` and the collection alike. */
async function change(
  random: Random,
  collection: Collection,
  records: Map<string, Fields>,
): Promise<void> {
  const ids = [...records.keys()]
  const id = ids[random.below(ids.length)] ?? ''
  const choice = random.below(10)
  if (choice < 5 || ids.length === 0) {
    const record = person(fieldsOf(random))
    await collection.insert(record)
    records.set(String(record._id), record)
  } else if (choice < 8) {
    const set = fieldsOf(random)
    await collection.update(where('_id', 'eq', id), { set })
    records.set(id, { ...records.get(id), ...set })
  } else {
    await collection.delete(where('_id', 'eq', id))
    records.delete(id)
  }
}

async function agrees(
  random: Random,
  collection: Collection,
  records: ReadonlyMap<string, Fields>,
): Promise<void> {
  const field = FIELDS[random.below(FIELDS.length)] ?? 'name'
  const term = textOf(random, 5)
  const filter: Filter = containing(field, term)
  const expected = [...records.values()].filter((record) => holds(record, field, term))
  const found = await collection.find(reading(filter, { limit: 10_000 }))
  const ids = (list: readonly Fields[]) => list.map(({ _id }) => String(_id)).sort()
  const message = `${JSON.stringify(term)} in ${field}`
  expect(ids(found), message).toEqual(ids(expected))
  expect(await collection.count(filter), message).toBe(expected.length)
}

it.each([1, 2, 3, 4])(
  'search finds what a look at every record finds, whatever was written before (seed %i)',
  async (seed) => {
    const random = new Random(seed)
    const path = newFile()
    const store = sqliteStore({ path })
    await store.prepare([people])
    const collection = store.collection(people)
    const records = new Map<string, Fields>()
    for (let turn = 0; turn < 1500; turn += 1) {
      await change(random, collection, records)
      if (random.chance(30)) await agrees(random, collection, records)
    }
    const taken = rowsOf(path, 'SELECT count(*) AS n FROM "people search"')[0]?.n
    // Otherwise all was found among the rows that wait to be taken over.
    expect(Number(taken)).toBeGreaterThan(200)
    await store.close()
  },
)

const here = keys('name', '_id')
const many = Array.from({ length: 1500 }, (_, at) => ({ name: `common ${at}` }))

it('a term that many records hold is found in order, page by page', async () => {
  const store = sqliteStore()
  await store.prepare([people])
  const collection = store.collection(people)
  await Promise.all(many.map((record) => collection.insert(person(record))))
  const common = containing('name', 'COMMON')
  const first = await collection.find({ filter: common, sort: here, limit: 2 })
  expect(first.map(({ name }) => name)).toEqual(['common 0', 'common 1'])
  expect(await collection.count(common)).toBe(1500)
  expect(await collection.updateMany(common, { set: { age: 1 } })).toBe(1500)
  expect(await collection.count(where('age', 'eq', 1))).toBe(1500)
  await store.close()
})

it('what another process has written is found, before and after it is taken over', async () => {
  const path = newFile()
  const [mine, theirs] = [sqliteStore({ path }), sqliteStore({ path })]
  for (const store of [mine, theirs]) await store.prepare([people])
  await theirs.collection(people).insert(person({ name: 'Reykjavík' }))
  const collection = mine.collection(people)
  expect(await collection.count(containing('name', 'KJAVÍ'))).toBe(1)
  await theirs.close()
  await mine.prepare([people])
  const taken = () => rowsOf(path, 'SELECT count(*) AS n FROM "people search"')[0]?.n
  await expect.poll(taken).toBe(1)
  expect(await collection.count(containing('name', 'KJAVÍ'))).toBe(1)
  await mine.close()
})

it('a model that searches other fields has them in its index, one that searches none has no index', async () => {
  const path = newFile()
  const model = (...searchable: string[]): CollectionSchema => ({ ...people, searchable })
  const open = async <T>(schema: CollectionSchema, work: (found: Collection) => Promise<T>) => {
    const store = sqliteStore({ path })
    await store.prepare([schema])
    const result = await work(store.collection(schema))
    await store.close()
    return result
  }
  await open(model('name'), (found) => found.insert(person({ name: 'Kraków', tags: ['wawel'] })))
  expect(
    await open(model('name', 'tags'), (found) => found.count(containing('tags', 'WAWEL'))),
  ).toBe(1)
  expect(await open(model('tags'), (found) => found.count(containing('tags', 'wawel')))).toBe(1)
  expect(await open(model(), (found) => found.count(everything))).toBe(1)
  const left = rowsOf(path, "SELECT name FROM sqlite_master WHERE name LIKE '%search%'")
  expect(left).toEqual([])
})
