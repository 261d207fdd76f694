import { runs } from '../../runs.ts'
import { stepsOnSqlite } from './on-sqlite.ts'

stepsOnSqlite({ every: Math.max(1, Math.ceil(16 / runs(1))) })
