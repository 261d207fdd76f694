/**
 * Saves that fail without anybody knowing whether they have happened: no record may come to point at nothing.
 */

import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type Store, sweepFiles } from '../../src/index.ts'
import type { Collection } from '../../src/ports/store/store.ts'
import { StoreTimeout, StoreUnavailable } from '../../src/ports/store/store-errors.ts'
import { album, Photo } from './album.ts'
import { form, png } from './png.ts'

/** A store whose next insert or update fails with `error`, before or after it has happened. */
function doubtful() {
  const inner = sqliteStore()
  let failing: { readonly error: Error; readonly happens: 'first' | 'later' | 'never' } | undefined
  let late: () => Promise<unknown> = async () => {}
  const doubted =
    <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (!failing) return write(...args)
      const { error, happens } = failing
      failing = undefined
      if (happens === 'first') await write(...args)
      if (happens === 'later') late = () => write(...args)
      throw error
    }
  const store: Store = Object.assign(Object.create(inner), {
    collection(schema: Parameters<Store['collection']>[0]): Collection {
      const real = inner.collection(schema)
      if (schema.name.startsWith('fieldgate_')) return real
      return Object.assign(Object.create(real), {
        insert: doubted(real.insert.bind(real)),
        update: doubted(real.update.bind(real)),
      })
    },
  })
  return {
    store,
    fail(error: Error, happens: 'first' | 'later' | 'never') {
      failing = { error, happens }
    },
    /** The write that was given up reaches the database after all. */
    arrive: () => late(),
  }
}

const later = { now: () => Date.now() + 2 * 60 * 60 * 1000 }

describe('a save that the store has given up', () => {
  for (const error of [new StoreUnavailable('gone'), new StoreTimeout('slow')]) {
    it(`leaves the file for the record that comes after all (${error.name})`, async () => {
      const { store, fail, arrive } = doubtful()
      const { upload, app, keys, files } = album({ app: { store } })
      fail(error, 'later')
      const failed = await upload('POST', '/photos', form({ title: 'x', image: png }))
      expect(failed.status).toBeGreaterThanOrEqual(500)
      await arrive()
      const [record] = await app.store.collection(Photo).find()
      expect(await keys()).toEqual([files.keyOf(record?.image ?? '')])
      expect((await sweepFiles(app, later)).orphans).toEqual([])
    })
  }

  it('leaves the new file and the old one of a PATCH, and the sweeper decides', async () => {
    const { store, fail, arrive } = doubtful()
    const { upload, app, keys, files } = album({ app: { store } })
    const made = await upload('POST', '/photos', form({ title: 'x', image: png }))
    fail(new StoreUnavailable('gone'), 'later')
    await upload('PATCH', `/photos/${made.record._id}`, form({ image: png }))
    await arrive()
    const [record] = await app.store.collection(Photo).find()
    expect(record?.image).not.toBe(made.record.image)
    expect(await keys()).toHaveLength(2)
    expect((await sweepFiles(app, later)).orphans).toEqual([files.keyOf(String(made.record.image))])
  })

  it('is swept where the record never comes', async () => {
    const { store, fail } = doubtful()
    const { upload, app, keys } = album({ app: { store } })
    fail(new StoreUnavailable('gone'), 'never')
    await upload('POST', '/photos', form({ title: 'x', image: png }))
    expect((await sweepFiles(app, later)).orphans).toHaveLength(1)
    expect(await keys()).toEqual([])
  })
})

describe('a save that fails for another reason', () => {
  it('keeps its file where it has happened all the same, and none where it has not', async () => {
    const { store, fail } = doubtful()
    const { upload, app, keys, files } = album({ app: { store } })
    fail(new Error('the answer was lost'), 'first')
    await upload('POST', '/photos', form({ title: 'x', image: png, cover: png }))
    const [record] = await app.store.collection(Photo).find()
    const pointed = [record?.image, record?.cover?.url].map((url) => files.keyOf(url ?? ''))
    expect(await keys()).toEqual(pointed.toSorted())
    fail(new Error('disk full'), 'never')
    await upload('POST', '/photos', form({ title: 'y', image: png }))
    expect(await keys()).toHaveLength(2)
  })
})

it('a list keeps no URL whose file another request removes meanwhile', async () => {
  let meanwhile: (() => Promise<unknown>) | undefined
  const { upload, send, keys, files } = album({
    before: async () => {
      const run = meanwhile
      meanwhile = undefined
      await run?.()
    },
  })
  const made = await upload('POST', '/photos', form({ title: 'x', others: [png, png] }))
  const [removed, left] = made.record.others as string[]
  const path = `/photos/${made.record._id}`
  meanwhile = () => send('PATCH', path, { json: { others: [left] } })
  const data = form({ others: [png] })
  for (const url of [removed, left]) data.append('others', url ?? '')
  const { status, record } = await upload('PATCH', path, data)
  expect([status, record.others]).toEqual([200, [left, expect.any(String)]])
  expect(await keys()).toEqual((record.others as string[]).map(files.keyOf).sort())
})
