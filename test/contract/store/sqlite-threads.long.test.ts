import { describe, it } from 'vitest'
import { openStore } from '../../../adapters/stores/sqlite/open.ts'
import { verify } from '../../../src/contract/index.ts'
import { filters } from '../../../src/contract/store/filters.ts'
import { orders } from '../../../src/contract/store/orders.ts'
import { searches } from '../../../src/contract/store/searches.ts'
import { newFile } from './file.ts'
import { someWorkloads } from './in-short.ts'

/** What is written on the main thread is promised of files, in sqlite.test.ts. */
const reads = { ...filters, ...searches, ...orders, ...someWorkloads(1) }

verify(
  'SQLite, all reads on threads',
  reads,
  {
    open: () => openStore(newFile(), { budgetMs: 0, rows: 0, threads: 2 }),
    close: (store) => store.close(),
  },
  { describe, it },
)
