import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { parity } from './parity.ts'

parity('SQLite', { open: () => sqliteStore(), questions: 1500 })
