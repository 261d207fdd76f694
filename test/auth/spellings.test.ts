import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { spellings } from './spellings.ts'

spellings('SQLite', () => sqliteStore())
