import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { unknownNames } from './names.ts'

unknownNames('SQLite', () => sqliteStore())
