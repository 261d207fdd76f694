import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { runs } from '../../runs.ts'
import { freshD1 } from './databases.ts'
import { longFilters } from './long-filters.ts'

const fresh = await freshD1(1)

longFilters('a real D1', { open: fresh, worlds: runs(5), unlimited: () => sqliteStore() })
