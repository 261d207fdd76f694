import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { containing, keys, namesOf, reading, where } from '../../../extras/contract/store/ask.ts'
import { people, person } from '../../../extras/contract/store/people.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { Shape } from '../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'
import { DuplicateKey, IndexConflict } from '../../../src/ports/store/store-errors.ts'
import { integrityOf, newFile, rowsOf } from './file.ts'

const bare: CollectionSchema = { ...people, unique: [], indexes: [], searchable: [] }

/** A file in which a model without any index has stored records. */
async function oldFile(...records: readonly Record<string, unknown>[]): Promise<string> {
  const path = newFile()
  await prepared(path, bare, async (collection) => {
    await Promise.all(records.map((record) => collection.insert(person(record))))
  })
  return path
}

async function prepared(
  path: string,
  schema: CollectionSchema,
  work: (collection: ReturnType<ReturnType<typeof sqliteStore>['collection']>) => Promise<void>,
): Promise<void> {
  const store = sqliteStore({ path })
  try {
    await store.prepare([schema])
    await work(store.collection(schema))
  } finally {
    await store.close()
  }
}

function structureOf(path: string): string {
  return JSON.stringify([
    rowsOf(path, 'SELECT name, sql FROM sqlite_master ORDER BY name'),
    rowsOf(path, "SELECT name FROM pragma_table_info('people')"),
  ])
}

describe('An existing file under a changed model', () => {
  const records = [
    {
      name: 'Ångström',
      tags: ['Física', 'óptica'],
      homes: [{ city: 'Uppsala' }],
      score: 1,
      email: 'a',
    },
    { name: 'none', score: 2 },
    { name: 'odd', tags: null, homes: [{ rooms: 1 }, { city: 'LUND' }], score: 3 },
  ]
  const searching: CollectionSchema = { ...people, searchable: ['name', 'tags', 'homes.city'] }

  it('gets the searchable fields, with the records that were there', async () => {
    const path = await oldFile(...records)
    await prepared(path, searching, async (collection) => {
      expect(await namesOf(collection, containing('name', 'ÅNG'))).toBe('Ångström')
      expect(await namesOf(collection, containing('tags', 'fís'))).toBe('Ångström')
      expect(await namesOf(collection, containing('homes.city', 'lund'))).toBe('odd')
      expect(await namesOf(collection, containing('homes.city', ''))).toBe('Ångström odd')
    })
    expect(integrityOf(path)).toBe('ok')
  })

  it('gets more records than one page of the backfill', async () => {
    const many = Array.from({ length: 2500 }, (_, at) => ({ name: `NAME ${at}` }))
    const path = await oldFile(...many)
    await prepared(path, searching, async (collection) => {
      expect(await collection.count(containing('name', 'name'))).toBe(2500)
    })
  })

  it('gets unique sets and indexes, and keeps those of another version until they are dropped', async () => {
    const path = await oldFile(...records)
    await prepared(path, searching, async (collection) => {
      await expect(collection.insert(person({ email: 'a' }))).rejects.toThrow(DuplicateKey)
    })
    const indexes = () =>
      rowsOf(path, "SELECT name FROM sqlite_master WHERE type = 'index'").map(({ name }) => name)
    expect(indexes()).toContain('people index ["member","-age"]')
    const narrower: CollectionSchema = {
      ...bare,
      unique: [['tenant', 'slug']],
      searchable: ['name'],
    }
    await prepared(path, narrower, async (collection) => {
      const clash = await collection.insert(person({ email: 'a' })).catch((error) => error)
      expect(clash).toMatchObject({ name: 'DuplicateKey', fields: ['email'] })
    })
    const store = sqliteStore({ path })
    const warnings: string[] = []
    await store.prepare([narrower], (message) => warnings.push(message))
    expect(warnings).toContain(
      `SQLite: 'people' still has the unique index 'people unique ["email"]' of another version of the app, which refuses a second record with the same email. If no version needs it any more, 'npx fieldgate backfill <file>' drops it; <file> is the one that exports your app.`,
    )
    const dropped = (await store.dropLeftOvers?.([narrower])) ?? []
    expect(dropped.map(({ what }) => what)).toEqual(
      expect.arrayContaining([
        'the unique index people unique ["email"]',
        'the index people index ["member","-age"]',
        'the column ~tags[]., which served a search',
      ]),
    )
    await store.collection(narrower).insert(person({ name: 'ONCE more', email: 'a' }))
    expect(await store.collection(narrower).count(containing('name', 'once'))).toBe(1)
    expect(await store.dropLeftOvers?.([narrower])).toEqual([])
    await store.close()
    expect(indexes().toSorted()).toEqual([
      'people lacking ~name',
      'people unique ["tenant","slug"]',
      'sqlite_autoindex_people_1',
    ])
    const columns = rowsOf(path, "SELECT name FROM pragma_table_info('people')")
    expect(columns.map(({ name }) => name)).toEqual(['rowid', '_id', 'shape', 'doc', '~name'])
    expect(integrityOf(path)).toBe('ok')
  })

  it('finds the whole list that a version without search began and this one goes on with', async () => {
    const path = newFile()
    const [theirs, ours] = [sqliteStore({ path }), sqliteStore({ path })]
    await ours.prepare([searching])
    await theirs.prepare([bare])
    for (const name of ['pushed', 'pulled', 'changed']) {
      const tags = ['Física', 'óptica']
      const homes = [{ city: 'Uppsala' }, { city: 'Lund' }]
      await theirs.collection(bare).insert(person({ name, tags, homes }))
    }
    const [collection, by] = [
      ours.collection(searching),
      (name: string) => where('name', 'eq', name),
    ]
    await collection.update(by('pushed'), { push: { tags: { value: 'Química' } } })
    await collection.update(by('pulled'), { pull: { homes: { key: 'city', value: 'Lund' } } })
    await collection.update(by('changed'), { set: { tags: ['physics'] } })
    await theirs.collection(bare).update(by('changed'), { push: { tags: { value: 'Óptica' } } })
    expect(await namesOf(collection, containing('tags', 'FÍSICA'))).toBe('pushed pulled')
    expect(await namesOf(collection, containing('tags', 'química'))).toBe('pushed')
    expect(await namesOf(collection, containing('tags', 'óptica'))).toBe('pushed pulled changed')
    expect(await namesOf(collection, containing('homes.city', 'uppsala'))).toBe(
      'pushed pulled changed',
    )
    expect(await namesOf(collection, containing('homes.city', 'lund'))).toBe('pushed changed')
    for (const store of [theirs, ours]) await store.close()
  })

  it('keeps an index that was made by hand', async () => {
    const path = await oldFile(...records)
    rowsOf(path, "CREATE INDEX mine ON people (json_extract(doc, '$.score'))")
    await prepared(path, people, async () => {})
    expect(structureOf(path)).toContain('"mine"')
  })

  it('is left as it was when a new unique set is violated', async () => {
    const path = await oldFile(...records, { name: 'again', email: 'a' })
    const before = structureOf(path)
    const refused = prepared(path, people, async () => {})
    await expect(refused).rejects.toThrow(new IndexConflict('people', ['email']).message)
    await expect(refused).rejects.toThrow(IndexConflict)
    expect(structureOf(path)).toBe(before)
  })

  it('is not touched when nothing has changed', async () => {
    const path = await oldFile(...records)
    await prepared(path, searching, async () => {})
    const before = rowsOf(path, 'PRAGMA schema_version')
    await prepared(path, searching, async () => {})
    expect(rowsOf(path, 'PRAGMA schema_version')).toEqual(before)
  })

  it('follows a field that becomes a list', async () => {
    const shape = (kind: 'text' | 'list') => ({
      ...people.shape,
      fields: new Map([
        ...people.shape.fields,
        [
          'label',
          kind === 'text' ? { kind: 'string' } : { kind: 'list', element: { kind: 'string' } },
        ] as const,
      ]),
    })
    const path = newFile()
    const text = { ...bare, shape: shape('text'), searchable: ['label'] } as CollectionSchema
    const list = { ...bare, shape: shape('list'), searchable: ['label'] } as CollectionSchema
    await prepared(path, text, async (collection) => {
      await collection.insert(person({ name: 'a', label: 'X' }))
    })
    await prepared(path, list, async (collection) => {
      await collection.insert(person({ name: 'b', label: ['Y', 'Z'] }))
      expect(await namesOf(collection, containing('label', 'z'))).toBe('b')
    })
  })

  it('refuses two collections whose names differ in case alone', async () => {
    const store = sqliteStore()
    await expect(store.prepare([bare, { ...bare, name: 'People' }])).rejects.toThrow(
      new TypeError("the collections 'people' and 'People' differ only in case"),
    )
    await store.close()
  })
})

describe('What is stored', () => {
  const awkward = [
    'a"b',
    "it's",
    '$',
    'a[0]',
    'x.y'.replace('.', '·'),
    'name',
    'Name',
    '[',
    ';--',
    '%',
    '~',
    '2024',
  ]

  it('field names of any kind neither break a statement nor meet each other', async () => {
    const fields = new Map(awkward.map((name) => [name, { kind: 'string' }] as const))
    const schema: CollectionSchema = {
      ...bare,
      name: 'odd "table\'s [name]',
      shape: {
        kind: 'object',
        fields: new Map<string, Shape>([...people.shape.fields, ...fields]),
      },
      searchable: awkward,
      unique: awkward.map((name) => [name]),
      indexes: awkward.map((name) => keys(`-${name}`)),
    }
    const path = newFile()
    await prepared(path, schema, async (collection) => {
      const record = person(Object.fromEntries(awkward.map((name) => [name, `Value of ${name}`])))
      await collection.insert(record)
      for (const name of awkward) {
        expect(await collection.count(where(name, 'eq', `Value of ${name}`)), name).toBe(1)
        expect(await collection.count(containing(name, 'VALUE')), name).toBe(1)
        const clash = await collection
          .insert(person({ [name]: `Value of ${name}` }))
          .catch((error) => error)
        expect(clash, name).toBeInstanceOf(DuplicateKey)
        expect(clash.fields).toEqual([name])
        await collection.update(everything, { set: { [name]: `Other ${name}` } })
        expect(await collection.count(containing(name, 'other')), name).toBe(1)
      }
      const [text = ''] = (await collection.findJson?.(reading(everything))) ?? []
      expect(text.startsWith(`{"_id":"${record._id}"`)).toBe(true)
    })
  })

  it.each([
    ['numbers', '{"n":1.0,"big":9007199254740993,"small":1e2}'],
    ['escapes', '"caf\\u00e9 \\/"'],
    ['spaces', '{ "a" : [ 1,  2 ] }'],
    ['a number that SQLite has computed', '{"n":0.30000000000000004,"of":[2.50]}'],
  ])('JSON of another program can be expected to be what was read of it: %s', async (_, any) => {
    const path = newFile()
    await prepared(path, people, async (collection) => {
      await collection.insert(person({ name: 'Ada' }))
    })
    rowsOf(path, `UPDATE people SET doc = substr(doc, 1, length(doc) - 1) || ',"any":${any}}'`)
    await prepared(path, people, async (collection) => {
      const ada = where('name', 'eq', 'Ada')
      const [{ _id, ...found } = {}] = await collection.find(reading(ada))
      const seen = { score: undefined, ...found }
      expect(found.any).toEqual(JSON.parse(any))
      const next = await collection.update(ada, { set: { score: 1 } }, { expect: seen })
      expect(next).toMatchObject({ score: 1, any: found.any })
      expect(await collection.update(ada, { set: { score: 2 } }, { expect: seen })).toBeNull()
      expect(await collection.delete(ada, { expect: seen })).toBeNull()
      expect(await collection.delete(ada, { expect: { any: found.any } })).toMatchObject({ _id })
    })
  })

  it('is one text for one record, however it came about', async () => {
    const path = newFile()
    await prepared(path, people, async (collection) => {
      const numbers = [
        0,
        -1,
        0.1,
        1 / 3,
        99.5,
        1e15,
        2 ** 53,
        2 ** 60,
        123456789e12,
        1e21,
        1.5e300,
        1e-5,
        1.25e-7,
      ]
      for (const age of numbers) {
        await collection.insert(
          person({ name: 'n\u0001\u001f"\\/é\u2028😀\u007f', age: 0, any: { b: [1.5, '\n'] } }),
        )
        await collection.update(where('age', 'eq', 0), {
          increment: { age },
          push: { tags: { value: 'é\t"' } },
        })
        const filter = where('age', 'eq', age)
        expect(await collection.count(filter), String(age)).toBe(1)
        expect(
          await collection.update(filter, { set: { score: 1 } }, { expect: { age } }),
          String(age),
        ).not.toBeNull()
        await collection.update(filter, {
          push: { tags: { value: '\u0008\f', cap: 5 } },
          pull: { homes: { key: 'city', value: 'x' } },
        })
        await collection.delete(where('age', 'eq', 0))
      }
    })
    const texts = rowsOf(path, 'SELECT doc FROM people').map(({ doc }) => String(doc))
    expect(texts.length).toBeGreaterThan(10)
    for (const text of texts) expect(text).toBe(JSON.stringify(JSON.parse(text)))
  })
})
