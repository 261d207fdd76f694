import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { openStore } from '../../adapters/cli/stores.ts'
import { copyRecords } from '../../src/copy/copy.ts'
import { createApp, defineModel, type Model, ref, type Store } from '../../src/index.ts'
import { withService } from '../services/shared.ts'
import { addressOf } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'

const Author = defineModel('CopiedAuthor', {
  fields: { name: z.string(), born: z.date().nullish() },
  unique: ['name'],
})
const Poem = defineModel('CopiedPoem', {
  fields: {
    title: z.string(),
    author: ref('CopiedAuthor'),
    lines: z.array(z.string()),
    score: z.number().nullable(),
    reads: z.int().optional(),
    extra: z.unknown(),
  },
  timestamps: true,
})
const models = [Author, Poem] as unknown as Model[]

function poem(author: string, at: number) {
  return {
    title: `Hymn ${at}\u0000\u0001`,
    author,
    lines: ['é', '😀', '"\\'],
    score: at % 3 === 0 ? null : at / 3,
    ...(at % 2 === 0 && { reads: at }),
    extra: at % 5 === 0 ? { b: [null, 1e21], a: '\u0000' } : at,
  }
}

/** Stores poets and poems. */
async function fill(first: Store | undefined): Promise<void> {
  const app = createApp({ store: { ...first, close: async () => {} } as never })
  const { _id } = await app.store
    .collection(Author)
    .insert({ name: 'Enheduanna', born: new Date('0001-01-01') })
  await app.store.collection(Author).insert({ name: 'Ovid', born: null })
  await app.store.collection(Author).insert({ name: 'Anon' })
  await Promise.all(
    Array.from({ length: 1100 }, (_, at) => app.store.collection(Poem).insert(poem(_id, at))),
  )
  await app.close()
}

/** Copies everything; resolves to the checksums of both collections. */
async function copied(from: Store, to: Store): Promise<string[]> {
  const results = await copyRecords(from, to, models)
  expect(results.map(({ target, copied: count }) => [target, count])).toEqual([
    [3, 3],
    [1100, 1100],
  ])
  return results.map(({ checksum }) => checksum)
}

/** Copies from each store to the next; resolves to the checksums of each copy. */
async function copiedAlong(stores: readonly Store[]): Promise<string[][]> {
  const checksums: string[][] = []
  let from: Store | undefined
  for (const to of stores) {
    if (from) checksums.push(await copied(from, to))
    from = to
  }
  return checksums
}

await withService('mongo', async (mongo) => {
  await withService('postgres', ({ url }) => {
    const fresh = freshSchemas(url)

    describe('a copy', () => {
      it('from SQLite to PostgreSQL, on to MongoDB, back to PostgreSQL and to SQLite is the same', async () => {
        const database = new URL(mongo.url)
        database.pathname = `/copy-${crypto.randomUUID()}`
        const stores = [
          'sqlite::memory:',
          addressOf(url, fresh()),
          database.href,
          addressOf(url, fresh()),
          'sqlite::memory:',
        ]
        const opened = await Promise.all(stores.map((address) => openStore(address)))
        await fill(opened[0])
        const checksums = await copiedAlong(opened)
        for (const sums of checksums) expect(sums).toEqual(checksums[0])
        for (const store of opened) await store.close()
      })
    })
  })
})
