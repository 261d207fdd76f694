import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { rulesOfVersions } from './suite.ts'

rulesOfVersions('SQLite', sqliteOnDisk, 3)
