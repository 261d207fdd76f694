import { sqliteStore } from 'fieldgate/sqlite'
import { sameRules } from './suite.ts'

sameRules('SQLite', () => sqliteStore(), [1, 2, 3])
