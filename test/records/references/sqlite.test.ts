import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { references } from './suite.ts'

references('SQLite', () => sqliteStore())
