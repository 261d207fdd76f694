import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { rightsOn } from './suite.ts'

rightsOn('SQLite', sqliteOnDisk, 2, 1)
