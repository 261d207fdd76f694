import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { backUp } from '../../adapters/stores/sqlite/connection/backup.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { CollectionSchema } from '../../src/ports/store/store.ts'
import { fileOfTest } from './proof/file.ts'

const schema: CollectionSchema = {
  name: 'notes',
  idType: 'objectId',
  shape: {
    kind: 'object',
    fields: new Map([
      ['_id', { kind: 'id', idType: 'objectId' }],
      ['text', { kind: 'string' }],
    ]),
  },
  unique: [],
  indexes: [],
  searchable: [],
  logged: { model: 'Note', keepMs: Number.POSITIVE_INFINITY },
}

describe('a copy of a database', () => {
  it('made by a backup has positions of its own, and the same entries', async () => {
    const [path, copy] = [fileOfTest(), fileOfTest()]
    const store = sqliteStore({ path })
    await store.prepare([schema])
    const start = (await store.changes?.position()) ?? ''
    await store.write?.([{ in: schema, insert: { _id: 'a', text: 'a' } }])
    const { collections } = backUp(path, copy)
    expect(collections).toEqual([{ name: 'notes', records: 1 }])
    await store.close()
    const restored = sqliteStore({ path: copy })
    await restored.prepare([schema])
    expect(await restored.changes?.read(start, { limit: 9 })).toEqual({ gone: true })
    const [entry] = (await restored.changes?.history('Note', 'a', { limit: 9 })) ?? []
    expect(entry).toMatchObject({ kind: 'created', after: { _id: 'a', text: 'a' } })
    await restored.close()
  })

  it('made by a backup has positions after those of before: what a consumer holds stays in order', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    let path = fileOfTest()
    const positions: string[] = []
    for (let copies = 0; copies < 12; copies += 1) {
      const store = sqliteStore({ path })
      await store.prepare([schema])
      await store.write?.([{ in: schema, insert: { _id: `${copies}`, text: 'a' } }])
      positions.push((await store.changes?.position()) ?? '')
      await store.close()
      vi.setSystemTime(Date.now() + 60_000)
      const copy = fileOfTest()
      backUp(path, copy)
      path = copy
    }
    expect(positions).toEqual(positions.toSorted())
  })

  it('that was put in its place refuses positions that have been passed since', async () => {
    const store = sqliteStore({ path: fileOfTest() })
    await store.prepare([schema])
    const write = async (_id: string) => {
      const outcome = await store.write?.([{ in: schema, insert: { _id, text: 'a' } }])
      return outcome && 'noted' in outcome ? (outcome.noted?.[0]?.id ?? '') : ''
    }
    const known = await write('a')
    const read = (after: string) => store.changes?.read(after, { limit: 9 })
    expect(await read(known)).toEqual({ changes: [], position: known })
    const ahead = known.replace(/-0+1-/, '-00000000009-')
    const other = known.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    for (const position of [ahead, other]) expect(await read(position)).toEqual({ gone: true })
    await store.close()
  })
})
