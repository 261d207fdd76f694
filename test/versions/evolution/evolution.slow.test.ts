import { seeds } from '../../runs.ts'
import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { evolutions } from './suite.ts'

evolutions('SQLite', sqliteOnDisk, seeds(3), { hasColumns: false })
