import { describe, it } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { verify } from '../../../extras/contract/index.ts'
import { aggregates } from '../../../extras/contract/store/aggregates.ts'
import { changes } from '../../../extras/contract/store/changes.ts'
import { guards } from '../../../extras/contract/store/guards.ts'
import { startUp } from '../../../extras/contract/store/start-up.ts'
import { together } from '../../../extras/contract/store/together.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { someWorkloads } from './in-short.ts'

/**
 * What takes a connection for itself, and random reads and writes: statements by themselves are the same as without
 * PgBouncer, in postgres.test.ts.
 */
const groups = Object.entries(aggregates).filter(([sentence]) => sentence.startsWith('random '))
const random = { ...Object.fromEntries(groups), ...someWorkloads(1) }
const promises = { ...together, ...guards, ...changes, ...startUp, ...random }

await withService('pgbouncer', ({ url }) => {
  const fresh = freshSchemas(url)
  verify(
    'PostgreSQL behind PgBouncer in transaction mode',
    promises,
    {
      open: () => postgresStore({ url, schema: fresh(), prepare: false }),
      close: (store) => store.close(),
    },
    { describe, it },
  )
})
