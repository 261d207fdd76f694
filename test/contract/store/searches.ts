/**
 * Searches among writes, held against a look at every record.
 *
 * @module
 */

import { expect } from 'vitest'
import { containing, reading, where } from '../../../extras/contract/store/ask.ts'
import { person } from '../../../extras/contract/store/people.ts'
import type { Random } from '../../../extras/contract/store/random.ts'
import type { Filter } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Collection } from '../../../src/ports/store/store.ts'
import { fold } from '../../../src/ports/values/fold.ts'

/** Few characters, so that texts and terms meet often; some are quotes, wildcards and more than one UTF-16 unit. */
const LETTERS = [
  'a',
  'b',
  'A',
  'ß',
  'é',
  'É',
  '"',
  '%',
  '_',
  "'",
  '東',
  '京',
  '🏙️',
  ' ',
  '\0',
  '\\',
  '\ufffe',
  '\uffff',
  '\u{10ffff}',
]
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
  } else if (choice === 8) {
    const [value, city] = [textOf(random, 6), textOf(random, 8)]
    const change = { set: { 'address.city': city }, unset: ['name'], push: { tags: { value } } }
    const changed = await collection.update(where('_id', 'eq', id), change)
    if (changed) records.set(id, changed)
  } else {
    await collection.delete(where('_id', 'eq', id))
    records.delete(id)
  }
}

/** A piece of some record's name, of any length: random letters are hardly found beyond three. */
function pieceOf(random: Random, records: readonly Fields[]): string {
  const name = Array.from(String(records[random.below(records.length)]?.name ?? ''))
  return name
    .slice(random.below(name.length + 1))
    .slice(0, 1 + random.below(12))
    .join('')
}

async function agrees(
  random: Random,
  collection: Collection,
  records: ReadonlyMap<string, Fields>,
): Promise<void> {
  const field = FIELDS[random.below(FIELDS.length)] ?? 'name'
  const term = random.chance(50) ? textOf(random, 5) : pieceOf(random, [...records.values()])
  const filter: Filter = containing(field, term)
  const expected = [...records.values()].filter((record) => holds(record, field, term))
  const found = await collection.find(reading(filter, { limit: 10_000 }))
  const ids = (list: readonly Fields[]) => list.map(({ _id }) => String(_id)).sort()
  const message = `${JSON.stringify(term)} in ${field}`
  expect(ids(found), message).toEqual(ids(expected))
  expect(await collection.count(filter), message).toBe(expected.length)
}

/** Makes `turns` random changes to an empty `collection` of people, and looks for random terms in between. */
export async function searchAmongWrites(
  random: Random,
  collection: Collection,
  turns: number,
): Promise<void> {
  const records = new Map<string, Fields>()
  for (let turn = 0; turn < turns; turn += 1) {
    await change(random, collection, records)
    if (random.chance(30)) await agrees(random, collection, records)
  }
}
