import { runs } from '../../runs.ts'
import { stepsOnSqlite } from './on-sqlite.ts'

stepsOnSqlite({ every: Math.max(1, Math.ceil(32 / runs(1))) })
