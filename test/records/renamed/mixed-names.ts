/**
 * A store whose records hold some fields under earlier names, as before a backfill, seen through `renamed`.
 *
 * @module
 */

import { Random } from '../../../extras/contract/store/random.ts'
import { addPath, collectionSchema } from '../../../src/model/collection-schema.ts'
import type { Model } from '../../../src/model/model.ts'
import { renamedCollection } from '../../../src/model/versions/renamed-collection.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Collection, CollectionSchema, Store } from '../../../src/ports/store/store.ts'

/** Earlier names of the fields of the contract's people; one field had two. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['title', 'name'],
  ['label', 'name'],
  ['years', 'age'],
  ['points', 'score'],
  ['isMember', 'member'],
  ['bornAt', 'born'],
  ['mate', 'friend'],
  ['words', 'tags'],
  ['numbers', 'marks'],
  ['home', 'address'],
  ['houses', 'homes'],
  ['anything', 'any'],
  ['times', 'by'],
])

/** `store`, in which another version of the app writes every second record under earlier names. */
export function mixedNames({ write: _, ...store }: Store, seed: number): Store {
  const random = new Random(seed)
  const former = (schema: CollectionSchema): CollectionSchema => {
    const { name: collection, searchable } = schema
    const rules = { fields: {}, collection, renamed: RENAMED }
    const model = { absence: new Map(), ...schema, ...rules } as never as Model
    const own = collectionSchema(model)
    for (const path of searchable) addPath(own, 'searchable', path, model)
    return { ...schema, ...own }
  }
  return {
    ...store,
    name: store.name,
    rawRegex: store.rawRegex,
    prepare: (schemas) => store.prepare(schemas.map(former)),
    close: () => store.close(),
    collection(schema): Collection {
      const raw = store.collection(former(schema))
      return {
        ...renamedCollection(raw, { renamed: RENAMED, shape: schema.shape }),
        insert: (record) =>
          raw.insert(random.chance(50) ? underFormerNames(record, random) : record),
      }
    },
  }
}

function underFormerNames(record: Fields, random: Random): Fields {
  const entries = Object.entries(record).map(([field, value]) => {
    const old = [...RENAMED].filter(([, now]) => now === field).map(([name]) => name)
    const [first] = old
    return first === undefined || random.chance(20)
      ? [field, value]
      : [random.of([first, ...old.slice(1)]), value]
  })
  return Object.fromEntries(entries)
}
