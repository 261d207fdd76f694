import { longFilters } from './long-filters.ts'
import { d1InMemory } from './statements.ts'

longFilters('D1, by its statements', { open: d1InMemory, worlds: 3 })
