/**
 * Two versions of an app on one database, on any store: while one takes the place of the other, or goes back, and what
 * is left when only one is there.
 *
 * @module
 */

import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { createApp, type Fields } from '../../src/index.ts'
import { BY_ID, everything } from '../../src/ports/store/filter.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { type Database, modelOf, type Served, serve, type Version } from '../changes/served.ts'
import { recordedLog } from '../records/service.ts'

/** How a store differs from the others. */
interface Differences {
  /** Whether a start makes something that serves searches. */
  readonly indexesSearches: boolean
  /** Whether each call takes so long that fewer of the same kind have to do. */
  readonly isSlow?: boolean
}

const text = z.string().optional()
const same = { name: z.string(), email: text, note: text, n: z.int().optional() }

/** The version that declares less; it takes `info` for anything. */
const LESS: Version = {
  fields: { ...same, tags: z.array(z.string()).optional(), info: z.unknown().optional() },
  search: ['name'],
  query: ['name'],
}
const MORE: Version = {
  fields: {
    ...same,
    tags: z.array(z.string()).optional(),
    info: z.object({ place: text }).optional(),
  },
  options: { unique: ['email'], indexes: ['-n'] },
  search: ['name', 'note', 'tags', 'info.place'],
  query: ['name'],
}

/** Registers the suite for the store with this name. */
export function versions(
  store: string,
  database: Database,
  { indexesSearches, isSlow = false }: Differences,
): void {
  const places = isSlow ? ['note', 'tags'] : Object.keys(PLACES)
  describe(`two versions of an app, on ${store}`, () => {
    it('refuse a second record with a value that one of them declares unique, whichever starts last', async () => {
      const open = await database()
      const older = serve(open, LESS)
      await post(older, { name: 'first', email: 'a@x' })
      const other = await post(older, { name: 'other', email: 'b@x' })
      const newer = serve(open, MORE)
      const refuses = async (one: Served) => {
        const taken = { status: 409, data: { error: 'Duplicate value for: email.' } }
        expect(await one.call('POST', '/things', { name: 'c', email: 'a@x' })).toEqual(taken)
        expect(await one.call('PATCH', `/things/${other}`, { email: 'a@x' })).toEqual(taken)
        expect((await one.call('PATCH', `/things/${other}`, { email: 'b@x' })).status).toBe(200)
      }
      await refuses(newer)
      await refuses(older)
      await refuses(serve(open, LESS))
      await refuses(newer)
      const things = script(open, LESS)
      const again = things.insert({ name: 'c', email: 'a@x' } as never)
      await expect(again).rejects.toMatchObject({ status: 409, fields: { email: /./ } })
      await refuses(newer)
      await refuses(older)
      const restarted = serve(open, MORE)
      await restarted.app.ready()
      await refuses(restarted)
      expect(await newer.list()).toHaveLength(2)
    })

    it('find at once what the other one writes, before and after starts', async () => {
      const open = await database()
      const first = serve(open, LESS)
      await post(first, { name: 'old', note: 'from before' })
      const newer = serve(open, MORE)
      expect(await found(newer, 'from BEF')).toEqual(['old'])
      await findsAll(newer, first, places)
      const rolledBack = serve(open, LESS)
      await rolledBack.app.ready()
      await findsAll(newer, rolledBack, places)
      await script(open, LESS).find()
      await findsAll(newer, first, ['note'])
      const restarted = serve(open, MORE)
      await restarted.app.ready()
      await findsAll(restarted, rolledBack, places)
      await findsAll(rolledBack, restarted, ['name'])
      expect(await found(restarted, 'from BEF')).toEqual(['old'])
    })

    it('find what a script writes, which searches nothing', async () => {
      const open = await database()
      const app = serve(open, MORE)
      const id = await post(app, { name: 'a', note: 'Reykjavík' })
      const things = script(open, LESS)
      await things.update(id, { note: 'Hafnarfjörður' } as never)
      await things.insert({ name: 'b', note: 'Hafnarfjörður' } as never)
      expect(await found(app, 'reykjavík')).toEqual([])
      expect(await found(app, 'HAFNAR')).toEqual(['a', 'b'])
      await things.updateWhere({ name: 'b' } as never, { note: 'Akureyri' } as never)
      const restarted = serve(open, MORE)
      for (const one of [app, restarted]) {
        expect(await found(one, 'HAFNARfj')).toEqual(['a'])
        expect(await found(one, 'akureyri')).toEqual(['b'])
      }
    })

    it('a newer one that declares less takes nothing from the one that serves', async () => {
      const open = await database()
      const serving = serve(open, MORE)
      const id = await post(serving, { name: 'a', email: 'a@x', note: 'Reykjavík' })
      const newer = serve(open, LESS)
      await newer.app.ready()
      expect((await newer.call('POST', '/things', { name: 'b', email: 'a@x' })).status).toBe(409)
      expect((await serving.call('POST', '/things', { name: 'b', email: 'a@x' })).status).toBe(409)
      expect(await found(serving, 'ykjav')).toEqual(['a'])
      await newer.call('PATCH', `/things/${id}`, { note: 'Akureyri' })
      expect(await found(serving, 'ykjav')).toEqual([])
      expect(await found(serving, 'kureyr')).toEqual(['a'])
      expect(newer.log.text).toContain('email')
      expect(newer.log.text).toContain("'npx fieldgate backfill <file>'")
    })

    it('see the whole records of each other where they ask for them, as a sweep of files does', async () => {
      const open = await database()
      const id = await post(serve(open, MORE), { name: 'first', note: 'kept' })
      const fewer = serve(open, { fields: { name: z.string() } })
      await fewer.app.ready()
      const stored = hostOf(fewer.app.store, 'app').stored(fewer.model)
      const read = { filter: everything, sort: BY_ID, limit: 2 }
      const whole = await stored.find({ ...read, hints: { isWhole: true } })
      expect(whole).toEqual([expect.objectContaining({ _id: id, name: 'first', note: 'kept' })])
    })

    it('a backfill drops what only the other one needs, once', async () => {
      const open = await database()
      const before = serve(open, MORE)
      const id = await post(before, { name: 'a', email: 'a@x', note: 'Reykjavík' })
      await before.app.close()

      const now = serve(open, LESS)
      const { ok, dropped } = await now.backfill()
      expect(ok).toBe(true)
      expect(new Set(dropped.map(({ collection }) => collection))).toEqual(new Set(['things']))
      const whats = dropped.map(({ what }) => what).join('\n')
      expect(whats).toContain('unique index')
      if (indexesSearches) expect(whats).toContain('search')
      expect((await now.backfill()).dropped).toEqual([])
      const twin = await post(now, { name: 'b', email: 'a@x', note: 'Reykjavík' })
      expect(await found(now, 'b')).toEqual(['b'])
      const restarted = serve(open, LESS)
      await restarted.app.ready()
      expect(restarted.log.text).not.toContain('another version')

      const back = serve(open, MORE)
      await expect(back.app.ready()).rejects.toMatchObject({ name: 'IndexConflict' })
      await now.call('PATCH', `/things/${twin}`, { email: 'b@x' })
      await now.call('PATCH', `/things/${id}`, { note: 'Akureyri' })
      const again = serve(open, MORE)
      expect(await found(again, 'ykjav')).toEqual(['b'])
      expect(await found(again, 'kureyr')).toEqual(['a'])
      await again.backfill()
      expect((await again.backfill()).dropped).toEqual([])
    })

    it('a backfill of an app that searches nothing leaves what serves searches', async () => {
      const open = await database()
      const app = serve(open, MORE)
      const id = await post(app, { name: 'a', note: 'Reykjavík' })
      const { search: _, ...silent } = MORE
      expect((await serve(open, silent).backfill()).dropped).toEqual([])
      await app.call('PATCH', `/things/${id}`, { note: 'Akureyri' })
      expect(await found(app, 'ykjav')).toEqual([])
      expect(await found(app, 'kureyr')).toEqual(['a'])
    })

    it('find what they write at a path that leads through a list in one of them', async () => {
      const open = await database()
      const version = (info: z.ZodType): Version => ({
        fields: { name: z.string(), info: info.optional() },
        search: ['info.place'],
        query: ['name'],
      })
      const [one, many] = [{ place: 'Reykjavík' }, [{ place: 'Akureyri' }]]
      const place = z.object({ place: text })
      const before = serve(open, version(place))
      await post(before, { name: 'one', info: one })
      const after = serve(open, version(z.array(place)))
      await post(after, { name: 'many', info: many })
      const finds = async (served: Served, term: string, name: string) =>
        expect(await found(served, term)).toEqual([name])
      await finds(after, 'kureyr', 'many')
      await finds(before, 'ykjav', 'one')
      const restarted = serve(open, version(z.array(place)))
      await finds(restarted, 'kureyr', 'many')
      const { dropped } = await restarted.backfill()
      await finds(restarted, 'kureyr', 'many')
      expect((await restarted.backfill()).dropped).toEqual([])
      if (store === 'PostgreSQL') {
        expect(dropped.map(({ what }) => what)).toEqual([
          "the search index 'things_search_info.place'",
          "the search column '_search_info.place'",
        ])
      }
    })

    it('start at the same time, again and again', async () => {
      const open = await database()
      const first = serve(open, MORE)
      await post(first, { name: 'a', email: 'a@x', note: 'Reykjavík' })
      for (let round = 0; round < 4; round += 1) {
        const [less, more] = [serve(open, LESS), serve(open, MORE)]
        await Promise.all([less.app.ready(), more.app.ready(), script(open, LESS).find()])
        for (const one of [less, more, first]) {
          const { status } = await one.call('POST', '/things', { name: 'b', email: 'a@x' })
          expect(status).toBe(409)
        }
        const id = await post(less, { name: `${round}`, note: `Akureyri ${round}` })
        for (const one of [more, first]) {
          expect(await found(one, `reyri ${round}`)).toEqual([`${round}`])
          expect(await found(one, 'ykjav')).toEqual(['a'])
        }
        expect((await less.call('DELETE', `/things/${id}`)).status).toBe(200)
        await Promise.all([less.app.close(), more.app.close()])
      }
    })

    it('leave in the log what the newer one has added', async () => {
      const open = await database()
      const options = { changes: true }
      const older = serve(open, { fields: { name: z.string() }, options })
      await older.app.ready()
      const others = { born: z.date().optional(), none: z.string().nullish(), on: z.boolean() }
      const newer = serve(open, { ...MORE, fields: { ...MORE.fields, ...others }, options })
      const born = '2026-01-02T03:04:05.678Z'
      const rest = { note: '"\0"', n: 3, tags: ['x'], info: { place: 'p' }, none: null, on: true }
      const id = await post(newer, { name: 'a', born, ...rest })
      expect((await older.call('PATCH', `/things/${id}`, { name: 'b' })).status).toBe(200)
      expect((await older.call('DELETE', `/things/${id}`)).status).toBe(200)
      const { changes } = hostOf(newer.app.store).database
      const found = await changes?.history('Thing', id, { limit: 10 })
      const [a, b] = ['a', 'b'].map((name) => ({ _id: id, name, born: new Date(born), ...rest }))
      const entries = found?.map(({ before, after }) => [before, after])
      expect(entries).toEqual([
        [b, null],
        [a, b],
        [null, a],
      ])
    })
  })
}

/** The records of a script, which has the model and no routers. */
function script(open: Parameters<typeof serve>[0], version: Version) {
  const app = createApp({ store: open(), logger: recordedLog(), env: {} })
  onTestFinished(() => app.close())
  return app.store.collection(modelOf(version))
}

/** Creates a record and returns its id. */
async function post({ call }: Served, record: Fields): Promise<string> {
  const { status, data } = await call('POST', '/things', record)
  expect([status, data]).toEqual([201, expect.objectContaining(record)])
  return String(data._id)
}

/** The names of the records that a search finds. */
async function found({ list }: Served, term: string): Promise<unknown[]> {
  return (await list(`?sort=name&s=${encodeURIComponent(term)}`)).map(({ name }) => name)
}

const PLACES: Readonly<Record<string, (value: string) => Fields>> = {
  name: (name) => ({ name: name || 'x' }),
  note: (note) => ({ note }),
  tags: (tag) => ({ tags: ['x', tag] }),
  'info.place': (place) => ({ info: { place } }),
}

/** Checks that `reader` finds what `writer` inserts, changes, takes away and deletes in each place. */
async function findsAll(reader: Served, writer: Served, places: readonly string[]): Promise<void> {
  for (const place of places) {
    for (const creator of [writer, reader]) await findsChanges(place, creator, { reader, writer })
  }
}

async function findsChanges(
  place: string,
  creator: Served,
  { reader, writer }: { reader: Served; writer: Served },
): Promise<void> {
  const holding = (value: string) => ({ name: place, ...PLACES[place]?.(value) })
  const finds = async (expected: readonly number[]) => {
    const counts = TERMS.map(async (term) => (await found(reader, term)).length)
    expect([place, await Promise.all(counts)]).toEqual([place, expected])
  }
  const id = await post(creator, holding('Kraków'))
  const change = async (record: Fields) =>
    expect((await writer.call('PATCH', `/things/${id}`, record)).status).toBe(200)
  await finds([1, 1, 0, 0])
  await change(holding('Wrocław'))
  await finds([0, 0, 1, 1])
  await change({ ...holding('Kraków'), n: 1 })
  await finds([1, 1, 0, 0])
  await change(holding(''))
  await finds([0, 0, 0, 0])
  await change(holding('Wrocław'))
  await finds([0, 0, 1, 1])
  expect((await writer.call('DELETE', `/things/${id}`)).status).toBe(200)
  await finds([0, 0, 0, 0])
}

/** Of the first string, then of the second, with as many letters as an index makes a difference of. */
const TERMS = ['kraków', 'AKÓ', 'wro', 'WROCŁAW']
