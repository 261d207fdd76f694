import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { freshD1 } from './databases.ts'
import { longFilters } from './long-filters.ts'

const fresh = await freshD1(1)

longFilters('a real D1', { open: fresh, worlds: 20, unlimited: () => sqliteStore() })
