import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { atomicSteps } from './suite.ts'

atomicSteps('SQLite', () => [sqliteStore()])
