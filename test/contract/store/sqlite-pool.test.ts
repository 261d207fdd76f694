import { openStore } from '../../../adapters/stores/sqlite/open.ts'
import { verify } from '../suite.ts'
import { storeContract } from './contract.ts'
import { newFile } from './file.ts'

verify('SQLite, all reads on threads', storeContract, {
  open: () => openStore(newFile(), { budgetMs: 0, rows: 0 }),
  close: (store) => store.close(),
})
