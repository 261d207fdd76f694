import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { dates } from './suite.ts'

dates('SQLite', () => sqliteStore(), 10)
