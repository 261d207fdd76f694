/**
 * The store port's promises about `findJson`: it returns nothing that the model does not declare, no matter who stored
 * it, and fills in declared defaults if it is asked to.
 */

import * as z from 'zod/mini'
import { defineModel } from '../../../src/model/define.ts'
import { onlyDeclared, withDefaults } from '../../../src/ports/store/declared.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Change, Collection, CollectionSchema, Store } from '../../../src/ports/store/store.ts'
import { deepEqual, ok } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { reading, where } from './ask.ts'
import { newId } from './people.ts'
import { Random } from './random.ts'

const name = z.optional(z.string())
const number = z.optional(z.number())
const list = z.optional(z.array(z.object({ a: number, s: name })))

const three = z._default(z.number(), 3)

/** Versions of one model: each declares what another does not. */
const VERSIONS = {
  plain: { name },
  secret: { name, secret: name, in: z.optional(z.object({ x: z.number() })) },
  nested: { name, in: z.optional(z.object({ x: z.number(), y: number })), list },
  open: { name, in: z.optional(z.looseObject({})), list: z.optional(z.array(z.unknown())) },
  filled: {
    name: z._default(z.string(), 'nobody'),
    in: z.optional(z.object({ x: z.number(), y: three })),
    list: z.optional(z.array(z.object({ a: number, b: three }))),
  },
}

type Version = keyof typeof VERSIONS

const versions = [
  'plain',
  'secret',
  'nested',
  'open',
  'filled',
] as const satisfies readonly Version[]

function schemaOf(version: Version): CollectionSchema {
  const { shape, declared } = defineModel('Versioned', { fields: VERSIONS[version] })
  return {
    name: 'versioned',
    idType: 'objectId',
    shape,
    declared,
    unique: [],
    indexes: [],
    searchable: [],
  }
}

const schemas = Object.fromEntries(
  versions.map((version) => [version, schemaOf(version)]),
) as Record<Version, CollectionSchema>

/** What a version shows, and what it should show: every record as the version declares it. */
async function shown(
  collection: Collection,
  { declared }: CollectionSchema,
): Promise<[unknown, unknown]> {
  const [texts, records] = await Promise.all([
    collection.findJson?.({ ...reading(everything), fillDefaults: true }),
    collection.find(reading(everything)),
  ])
  ok(declared)
  const wanted = records.map((record) => withDefaults(declared, onlyDeclared(declared, record)))
  return [texts?.map((text) => JSON.parse(text)) ?? wanted, wanted]
}

const whole: Fields = {
  name: 'n',
  secret: 's3cret',
  in: { x: 1, y: 2, z: 3 },
  list: [{ a: 1, s: 's3cret' }, { other: 1 }],
}

/** What a model declares. */
export const declarations: Contract<Store> = {
  async 'texts hold declared members alone, nested ones and those in lists too'(store) {
    await store.prepare([schemas.nested])
    // Without a declaration, as a script or another program would write.
    const { declared: _, ...bare } = schemas.nested
    const _id = newId()
    await store.collection(bare).insert({ _id, ...whole })
    const nested = store.collection(schemas.nested)
    const [texts] = await shown(nested, schemas.nested)
    deepEqual(texts, [{ _id, name: 'n', in: { x: 1, y: 2 }, list: [{ a: 1, s: 's3cret' }, {}] }])
    const selected = await nested.findJson?.({
      ...reading(everything),
      select: { include: ['in', 'secret'] },
    })
    if (selected) deepEqual(JSON.parse(selected[0] ?? ''), { _id, in: { x: 1, y: 2 } })
  },
  async 'two versions of a model that write to one collection show their own declarations'(store) {
    await store.prepare([schemas.plain])
    await store.prepare([schemas.secret])
    const [plain, secret] = [store.collection(schemas.plain), store.collection(schemas.secret)]
    const [a, b] = [newId(), newId()]
    await plain.insert({ _id: a, name: 'a' })
    await secret.insert({ _id: b, name: 'b', secret: 's3cret' })
    await secret.update(where('_id', 'eq', a), { set: { secret: 's3cret' } })
    await plain.update(where('_id', 'eq', b), { set: { name: 'B' } })
    const [texts] = await shown(plain, schemas.plain)
    deepEqual(texts, [
      { _id: a, name: 'a' },
      { _id: b, name: 'B' },
    ])
    const [seen] = await shown(secret, schemas.secret)
    deepEqual(seen, [
      { _id: a, name: 'a', secret: 's3cret' },
      { _id: b, name: 'B', secret: 's3cret' },
    ])
  },
  async 'texts hold the defaults that older records lack, if asked for and selected'(store) {
    await store.prepare([schemas.filled])
    const { declared: _, ...bare } = schemas.filled
    const _id = newId()
    await store.collection(bare).insert({ _id, in: { x: 1 }, list: [{ b: null }, {}] })
    const filled = store.collection(schemas.filled)
    const [texts] = await shown(filled, schemas.filled)
    const list = [{ b: null }, { b: 3 }]
    deepEqual(texts, [{ _id, name: 'nobody', in: { x: 1, y: 3 }, list }])
    const some = { ...reading(everything), select: { include: ['in.x', 'list'] } }
    const selected = await filled.findJson?.({ ...some, fillDefaults: true })
    if (selected) deepEqual(JSON.parse(selected[0] ?? ''), { _id, in: { x: 1 }, list })
    const bareTexts = await filled.findJson?.(some)
    const stored = { _id, in: { x: 1 }, list: [{ b: null }, {}] }
    if (bareTexts) deepEqual(JSON.parse(bareTexts[0] ?? ''), stored)
  },
  async 'a part of a record has the nulls of another version, as all of it has'(store) {
    const { collection, record } = await withNullOfOther(store)
    const some = { ...reading(everything), select: { include: ['name'] } }
    deepEqual(await collection.find(reading(everything)), [record])
    deepEqual(await collection.find(some), [record])
    const texts = await collection.findJson?.(some)
    if (texts) deepEqual(JSON.parse(texts[0] ?? ''), record)
  },
  async 'a null of another version is gone once it is unset'(store) {
    const { collection, record } = await withNullOfOther(store)
    await collection.update(everything, { unset: ['name'] })
    deepEqual(await collection.find(reading(everything)), [{ _id: record._id }])
  },
  async 'whatever several versions write, each shows what it declares'(store) {
    for (const version of versions) await store.prepare([schemas[version]])
    for (const seed of [1, 2, 3, 4]) await mixedWriters(store, new Random(seed))
  },
}

/** A collection whose model has a field that may be missing, and a record in which another version of it has stored null. */
async function withNullOfOther(store: Store): Promise<{ collection: Collection; record: Fields }> {
  const nullable = z.nullish(z.string())
  const [older, newer] = [nullable, name].map((one): CollectionSchema => {
    const fields = { name: one, note: nullable }
    const { shape, declared, absence } = defineModel('Versioned', { fields } as never)
    return { ...schemas.plain, shape, declared, absence }
  })
  ok(older && newer)
  await store.prepare([older])
  await store.prepare([newer])
  const record = { _id: newId(), name: null }
  await store.collection(older).insert(record)
  return { collection: store.collection(newer), record }
}

/** Random writes by random versions, some of which write what they do not declare. */
async function mixedWriters(store: Store, random: Random): Promise<void> {
  const ids: string[] = []
  for (let step = 0; step < 60; step += 1) {
    const version = random.of(versions)
    // A deploy in between: the version starts and looks at what the others have left.
    if (step % 15 === 0) await store.prepare([schemas[version]])
    const collection = store.collection(schemas[version])
    if (ids.length < 3 || random.chance(20)) {
      const _id = newId()
      ids.push(_id)
      await collection.insert({ _id, ...part(random, version) })
    } else if (random.chance(10)) {
      await collection.updateMany(everything, { set: part(random, version) })
    } else {
      await collection.update(
        where('_id', 'eq', ids[random.below(ids.length)] ?? ''),
        changeOf(random, version),
      )
    }
  }
  for (const version of versions) {
    const [texts, wanted] = await shown(store.collection(schemas[version]), schemas[version])
    deepEqual(texts, wanted)
  }
  for (const id of ids) await store.collection(schemas.plain).delete(where('_id', 'eq', id))
}

/** Some fields of the whole record, mostly those that the version declares. */
function part(random: Random, version: Version): Fields {
  const { declared } = schemas[version]
  ok(declared)
  const some = Object.fromEntries(Object.entries(whole).filter(() => random.chance(50)))
  return random.chance(80) ? (onlyDeclared(declared, some) as Fields) : some
}

function changeOf(random: Random, version: Version): Change {
  if (random.chance(10)) return { unset: ['in'] }
  if (random.chance(10)) return { set: { 'in.x': 7 } }
  if (random.chance(10)) return { set: { 'in.z': 7 } }
  if (random.chance(10)) return { push: { list: { value: { a: 1, other: 2 } } } }
  return { set: part(random, version) }
}
