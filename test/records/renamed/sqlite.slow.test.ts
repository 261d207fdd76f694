import { describe, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { workloads } from '../../../src/contract/store/workload.ts'
import { verify } from '../../../src/contract/verify.ts'
import { mixedNames } from './mixed-names.ts'

verify(
  'SQLite, with half of the records under earlier names',
  workloads,
  { open: () => mixedNames(sqliteStore(), 1), close: (store) => store.close() },
  { describe, it },
)
