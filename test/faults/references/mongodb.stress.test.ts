import { withService } from '../../services/shared.ts'
import { references } from './suite.ts'

/** Each step is a transaction, so fewer rounds. */
const ROUNDS = 15

await withService('mongo', ({ url }) => {
  // Dropping the databases would wait for the transactions of the killed processes, a minute.
  references('MongoDB', () => ({ url, database: `race-${crypto.randomUUID()}` }), ROUNDS)
})
