import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { rightsOn } from './suite.ts'

rightsOn('SQLite', sqliteOnDisk, { requests: 2, lists: 1 })
