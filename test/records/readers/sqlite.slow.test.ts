import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { readers } from './suite.ts'

readers('SQLite', sqliteStore, 60)
