import { sqlite } from './sqlite.ts'
import { rightsOn } from './suite.ts'

rightsOn('SQLite', sqlite, 2, 1)
