import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { walks } from './walk.ts'

walks('SQLite', { open: () => sqliteStore(), walks: 120 })
