import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { ownLists } from './suite.ts'

ownLists('SQLite', () => sqliteStore())
