import { describe, it } from 'vitest'
import { openStore } from '../../../adapters/stores/sqlite/store/open.ts'
import { verify } from '../../../extras/contract/index.ts'
import { filters } from '../../../extras/contract/store/filters.ts'
import { orders } from '../../../extras/contract/store/orders.ts'
import { searches } from '../../../extras/contract/store/searches.ts'
import { newFile } from './file.ts'
import { someWorkloads } from './in-short.ts'

/** What is written on the main thread is promised of files, in sqlite.test.ts. */
const reads = { ...filters, ...searches, ...orders, ...someWorkloads(1) }

verify(
  'SQLite, all reads on threads',
  reads,
  {
    open: () => openStore(newFile(), { budgetMs: 0, rows: 0, threads: 1 }),
    close: (store) => store.close(),
  },
  { describe, it },
)
