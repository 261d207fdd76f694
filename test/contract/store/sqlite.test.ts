import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { verify } from '../suite.ts'
import { storeContract, storePromises } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'fieldgate-sqlite-'))
let files = 0
afterAll(() => rmSync(folder, { recursive: true }))

verify('SQLite in memory', storePromises, {
  open: () => sqliteStore(),
  close: (store) => store.close(),
})

verify('SQLite in a file', storeContract, {
  open() {
    files += 1
    return sqliteStore({ path: join(folder, `${files}.db`) })
  },
  close: (store) => store.close(),
})
