import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { evolutions } from './suite.ts'

evolutions('SQLite', sqliteOnDisk, 3, { hasColumns: false })
