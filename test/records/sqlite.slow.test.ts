/** What records promise on any store, by random requests to SQLite; what is not random stands with its suite. */

import { describe, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { verify } from '../../extras/contract/verify.ts'
import { someWorkloads } from '../contract/store/in-short.ts'
import { parity } from './oracle/parity.ts'
import { readers } from './readers/suite.ts'
import { mixedNames } from './renamed/mixed-names.ts'
import { randomScopes } from './scope/random.ts'
import { walks } from './walk/walk.ts'

const open = () => sqliteStore()

parity('SQLite', { open, questions: 150 })
readers('SQLite', open, 12)
randomScopes('SQLite', { open, cases: 30 })
walks('SQLite', { open, walks: 40 })
verify(
  'SQLite, with half of the records under earlier names',
  someWorkloads(1),
  { open: () => mixedNames(sqliteStore(), 1), close: (store) => store.close() },
  { describe, it },
)
