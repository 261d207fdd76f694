import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { verify } from '../suite.ts'
import { storeContract, storePromises } from './contract.ts'
import { newFile } from './file.ts'

verify('SQLite in memory', storePromises, {
  open: () => sqliteStore(),
  close: (store) => store.close(),
})

verify('SQLite in a file', storeContract, {
  open: () => sqliteStore({ path: newFile() }),
  close: (store) => store.close(),
})
