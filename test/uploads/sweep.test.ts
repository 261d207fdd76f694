/**
 * The sweeper: what no record points at goes, everything else stays.
 */

import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, sweepFiles } from '../../src/index.ts'
import { newKey } from '../../src/uploads/model-files.ts'
import { type Album, album } from './album.ts'
import { form, png } from './png.ts'

const meta = {
  contentType: 'image/png',
  contentDisposition: 'inline',
  acl: 'private',
  size: png.length,
} as const

/** Stores an object as a crash between storing and saving leaves it. */
async function orphan({ files }: Album, prefix = 'files/'): Promise<string> {
  const key = newKey(prefix, 'png', Date.now())
  await files.put(key, png, meta)
  return key
}

const inTwoHours = { now: () => Date.now() + 2 * 60 * 60 * 1000 }

it('removes objects that no record points at, and no others', async () => {
  const served = album()
  const data = form({ title: 'x', image: png, others: [png, png], cover: png, sheets: [png] })
  await served.upload('POST', '/photos', data)
  const kept = await served.keys()
  const left = [await orphan(served), await orphan(served)].sort()
  const { examined, orphans } = await sweepFiles(served.app, inTwoHours)
  expect(examined).toBe(kept.length + left.length)
  expect(orphans.toSorted()).toEqual(left)
  expect(await served.keys()).toEqual(kept)
  expect(await sweepFiles(served.app, inTwoHours)).toEqual({ examined: kept.length, orphans: [] })
})

it('leaves objects alone whose record may be on its way', async () => {
  const served = album()
  const key = await orphan(served)
  expect(await sweepFiles(served.app)).toEqual({ examined: 0, orphans: [] })
  const half = { now: () => Date.now() + 30_000 }
  expect((await sweepFiles(served.app, { ...half, graceSeconds: 60 })).orphans).toEqual([])
  expect((await sweepFiles(served.app, { ...half, graceSeconds: 10 })).orphans).toEqual([key])
})

it.each(['https://api.example.com/uploads', '/files'])(
  'leaves objects alone whose records have URLs from before the store got the address %s',
  async (url) => {
    const served = album()
    const data = form({ title: 'x', image: png, others: [png], cover: png, sheets: [png] })
    await served.upload('POST', '/photos', data)
    const left = await orphan(served)
    const urlOf = (key: string) => `${url}/${key}`
    const keyOf = (own: string) =>
      own.startsWith(`${url}/`) ? own.slice(url.length + 1) : undefined
    const store = { ...served.files, urlOf, keyOf }
    const files = { ...served.app.files, store }
    const app = { files, ready: () => served.app.ready() }
    expect((await sweepFiles(app, inTwoHours)).orphans).toEqual([left])
    expect(await served.keys()).toHaveLength(4)
  },
)

it('ends if the store goes silent', async () => {
  const served = album()
  const key = await orphan(served)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const store = {
    ...served.files,
    async *list() {
      yield { key, storedAt: 0 }
      await new Promise(() => {})
    },
  }
  const app = { files: { ...served.app.files, store }, ready: () => served.app.ready() }
  const swept = sweepFiles(app, inTwoHours)
  const refused = expect(swept).rejects.toThrow('the file store listed nothing for 60 seconds')
  await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0))
  await vi.advanceTimersByTimeAsync(60_000)
  await refused
})

it('only counts on a dry run', async () => {
  const served = album()
  const key = await orphan(served)
  expect((await sweepFiles(served.app, { ...inTwoHours, dryRun: true })).orphans).toEqual([key])
  expect(await served.keys()).toEqual([key])
})

it('leaves alone what others have put into the same folder, and other folders', async () => {
  const served = album()
  const others = ['files/logo.png', 'files/2024/report.png', 'other/1-a.png']
  for (const key of others) await served.files.put(key, png, meta)
  await orphan(served, 'elsewhere/')
  expect((await sweepFiles(served.app, inTwoHours)).examined).toBe(0)
})

it('looks through every router that keeps files, page by page', async () => {
  const served = album()
  const Page = defineModel('Page', { fields: { file: z.string().optional(), n: z.number() } })
  served.app.mount('/pages', createRouter({ model: Page, allowedFields: ['file'], upload: {} }))
  const pages = served.app.store.collection(Page)
  const used = await orphan(served)
  for (let n = 0; n < 1200; n += 1) await pages.insert({ n })
  await pages.insert({ n: 1201, file: served.files.urlOf(used) })
  const unused = await orphan(served)
  let turns = 0
  const turn = setInterval(() => {
    turns += 1
  })
  const store = {
    ...served.files,
    async *list() {
      for (const key of [used, unused]) yield { key, storedAt: 0 }
    },
    delete: async () => {},
  }
  const app = { files: { ...served.app.files, store }, ready: () => served.app.ready() }
  expect((await sweepFiles(app, inTwoHours)).orphans).toEqual([unused])
  clearInterval(turn)
  // Of three pages; without them, requests would wait for the whole sweep.
  expect(turns).toBeGreaterThan(0)
})

it('does nothing for an app without a file store', async () => {
  const { app } = album({ app: { files: undefined as never } })
  expect(await sweepFiles(app)).toEqual({ examined: 0, orphans: [] })
})
