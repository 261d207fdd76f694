import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { reading, where } from '../../../extras/contract/store/ask.ts'
import { newId } from '../../../extras/contract/store/people.ts'
import { defineModel } from '../../../src/model/define.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { CollectionSchema, Store } from '../../../src/ports/store/store.ts'
import { newFile } from './file.ts'

function noteSchema(fields: Record<string, z.ZodType>): CollectionSchema {
  const { shape, declared } = defineModel('Note', { fields })
  return {
    name: 'notes',
    idType: 'objectId',
    shape,
    declared,
    unique: [],
    indexes: [],
    searchable: [],
  }
}

const text = z.string().optional()
const note = noteSchema({ title: text })
const longer = noteSchema({ title: text, body: text })

/** Opens a store, prepared, for as long as `work` takes. */
async function withStore(
  path: string,
  schema: CollectionSchema,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const store = sqliteStore({ path })
  try {
    await store.prepare([schema])
    await work(store)
  } finally {
    await store.close()
  }
}

async function texts(store: Store, schema: CollectionSchema): Promise<unknown[]> {
  const found = await store.collection(schema).findJson?.(reading(everything))
  return (found ?? []).map((one) => JSON.parse(one))
}

/** What another program runs on the file. */
function sql(path: string, statement: string): void {
  const db = new DatabaseSync(path)
  try {
    db.exec(statement)
  } finally {
    db.close()
  }
}

function marksIn(path: string): unknown[] {
  const db = new DatabaseSync(path)
  try {
    return db
      .prepare('SELECT shape FROM notes ORDER BY _id')
      .all()
      .map((row) => row.shape)
  } finally {
    db.close()
  }
}

describe('What another program writes into the file is reduced to what the model declares', () => {
  const kinds: Record<string, string> = {
    'an update of a record that the store has written': `UPDATE notes SET doc = json_set(doc, '$.secret', 's3cret')`,
    'an update that touches nothing but the record, twice': `UPDATE notes SET doc = json_set(doc, '$.secret', 1); UPDATE notes SET doc = json_set(doc, '$.secret', 's3cret')`,
    'a replaced row': `REPLACE INTO notes (rowid, _id, doc) SELECT rowid, _id, json_set(doc, '$.secret', 's3cret') FROM notes`,
    'an upsert': `INSERT INTO notes (_id, doc) SELECT _id, json_set(doc, '$.secret', 's3cret') FROM notes WHERE true ON CONFLICT (_id) DO UPDATE SET doc = excluded.doc`,
  }
  it.each(Object.entries(kinds))('%s', async (_kind, statement) => {
    const path = newFile()
    const _id = newId()
    await withStore(path, note, async (store) => {
      await store.collection(note).insert({ _id, title: 't' })
      sql(path, statement)
      expect(await texts(store, note)).toEqual([{ _id, title: 't' }])
      // Writes of the store do not bring it back.
      await store.collection(note).update(where('_id', 'eq', _id), { set: { title: 'u' } })
      await store.collection(note).updateMany(everything, { set: { title: 'v' } })
      expect(await texts(store, note)).toEqual([{ _id, title: 'v' }])
    })
    expect(marksIn(path)).toEqual([null])
  })
})

describe('A record is sent as it is stored', () => {
  it('while only shapes that declare nothing else have written it', async () => {
    const path = newFile()
    await withStore(path, note, async (store) => {
      await store.collection(note).insert({ _id: newId(), title: 'a' })
      for (let turn = 0; turn < 3; turn += 1) {
        await store.collection(note).updateMany(everything, { set: { title: `${turn}` } })
        expect(marksIn(path)).toEqual([expect.any(Number)])
      }
    })
    const [before] = marksIn(path) as number[]
    // A model that has grown trusts what the one before it wrote, and takes it over as it writes.
    await withStore(path, longer, async (store) => {
      await store.collection(longer).insert({ _id: newId(), title: 'b', body: 'c' })
      await store.collection(longer).update(where('title', 'eq', '2'), { set: { body: 'd' } })
    })
    const [after, other] = marksIn(path) as number[]
    expect(Math.abs(after ?? 0)).toBe(Math.abs(other ?? 0))
    expect(Math.abs(after ?? 0)).not.toBe(Math.abs(before ?? 0))
    // One that has shrunk does not, and what it writes loses the mark.
    await withStore(path, note, async (store) => {
      await store.collection(note).updateMany(everything, { set: { title: 'e' } })
      expect(await texts(store, note)).toEqual([
        expect.not.objectContaining({ body: expect.anything() }),
        expect.not.objectContaining({ body: expect.anything() }),
      ])
    })
    expect(marksIn(path)).toEqual([null, null])
  })

  it('also from a file whose table has had no marks yet', async () => {
    const path = newFile()
    sql(
      path,
      `CREATE TABLE notes (rowid INTEGER PRIMARY KEY, _id TEXT NOT NULL UNIQUE, doc TEXT NOT NULL);
       INSERT INTO notes (_id, doc) VALUES ('${newId()}', '{"_id":"x","title":"old","secret":1}')`,
    )
    await withStore(path, note, async (store) => {
      await store.collection(note).insert({ _id: newId(), title: 'new' })
      const shown = (await texts(store, note)) as { title: string; secret?: unknown }[]
      expect(shown.map(({ title, secret }) => [title, secret])).toEqual([
        ['old', undefined],
        ['new', undefined],
      ])
    })
    expect(marksIn(path)).toEqual([null, expect.any(Number)])
  })

  it('only while no default of the model is missing in it', async () => {
    const path = newFile()
    const titled = noteSchema({ title: z.string().default('none'), body: text })
    await withStore(path, note, async (store) => {
      await store.collection(note).insert({ _id: newId(), title: 'old' })
    })
    await withStore(path, titled, async (store) => {
      const notes = store.collection(titled)
      await notes.insert({ _id: newId(), title: 'new' })
      await notes.insert({ _id: newId(), body: 'without' })
      expect(await texts(store, titled)).toMatchObject([
        { title: 'old' },
        { title: 'new' },
        { body: 'without' },
      ])
      await notes.update(where('title', 'eq', 'new'), { unset: ['title'] })
    })
    const [, second, third] = marksIn(path)
    expect([second, third]).toEqual([null, null])
  })

  it.each([
    ['an object without its default', { set: { place: { city: 'b' } } }],
    ['an object with what no model declares', { set: { place: { city: 'b', secret: 1 } } }],
    ['a member of an object that is not there', { set: { 'place.city': 'b' } }],
    ['an element without its default', { push: { places: { value: { city: 'b' } } } }],
  ] as const)('only while a change leaves it whole: %s', async (_, change) => {
    const place = z.object({ city: text, country: z.string().default('de') })
    const placed = noteSchema({ place: place.optional(), places: z.array(place).optional() })
    await withStore(newFile(), placed, async (store) => {
      const notes = store.collection(placed)
      await notes.insert({ _id: newId() })
      await notes.updateMany(everything, change)
      const read = { ...reading(everything), fillDefaults: true }
      const [shown] = ((await notes.findJson?.(read)) ?? []).map((one) => JSON.parse(one))
      expect(shown.place ?? shown.places[0]).toEqual({ city: 'b', country: 'de' })
    })
  })

  it('again once it has been looked at, if everything in it is declared', async () => {
    const path = newFile()
    const titled = noteSchema({ title: z.string().default('none') })
    const ids = [newId(), newId(), newId()]
    await withStore(path, titled, async (store) => {
      const notes = store.collection(titled)
      for (const _id of ids) await notes.insert({ _id, title: 't' })
      sql(path, `UPDATE notes SET doc = json_set(doc, '$.title', 'by hand')`)
      sql(path, `UPDATE notes SET doc = json_set(doc, '$.secret', 1) WHERE _id = '${ids[1]}'`)
      sql(path, `UPDATE notes SET doc = json_remove(doc, '$.title') WHERE _id = '${ids[2]}'`)
      const before = await texts(store, titled)
      expect(marksIn(path)).toEqual([null, null, null])
      await notes.refresh?.(ids)
      expect(await texts(store, titled)).toEqual(before)
    })
    expect(marksIn(path)).toEqual([expect.any(Number), null, null])
  })
})
