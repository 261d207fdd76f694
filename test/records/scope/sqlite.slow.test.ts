import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { randomScopes } from './random.ts'

randomScopes('SQLite', { open: () => sqliteStore(), cases: 120 })
