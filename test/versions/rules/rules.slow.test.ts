import { seeds } from '../../runs.ts'
import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { rulesOfVersions } from './suite.ts'

rulesOfVersions('SQLite', sqliteOnDisk, seeds(3))
