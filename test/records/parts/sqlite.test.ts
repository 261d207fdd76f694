import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { nulls } from './nulls.ts'

nulls('SQLite', () => sqliteStore())
