/**
 * The store contract over `store.ts`: `node -C fieldgate-source --test examples/duckdb-store/store.test.ts` in this
 * repository, `node --test` in a project that has fieldgate and `@duckdb/node-api` installed.
 *
 * @module
 */

import { describe, it } from 'node:test'
import { storeContract, verify } from 'fieldgate/contract'
import { duckdbStore } from './store.ts'

verify(
  'a store in DuckDB',
  storeContract,
  { open: () => duckdbStore(':memory:'), close: (store) => store.close() },
  { describe, it },
)
