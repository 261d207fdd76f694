import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../src/index.ts'
import { copiesUnderWrites } from './writers.ts'

copiesUnderWrites(
  'SQLite',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fieldgate-copy-'))
    const opened: Store[] = []
    const open = async (path: string) => {
      const store = sqliteStore({ path })
      opened.push(store)
      return store
    }
    return {
      source: () => open(join(folder, 'source.db')),
      target: () => open(':memory:'),
      async close() {
        for (const store of opened) await store.close()
        await rm(folder, { recursive: true })
      },
    }
  },
  40,
)
