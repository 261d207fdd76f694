import { stepsOnSqlite } from './on-sqlite.ts'

// Those that wait for a time, and more of each, are in sqlite.stress.test.ts.
stepsOnSqlite({ kinds: ['refused', 'lost', 'gone', 'down', 'cut'], every: 40 })
