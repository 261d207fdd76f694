/**
 * The example of a SQL database that others add.
 */

import { describe, it } from 'vitest'
import { duckdbStore } from '../../../examples/duckdb-store/store.ts'
import { verify } from '../../../extras/contract/index.ts'
import { contractInShort } from './in-short.ts'

verify(
  'the example in DuckDB',
  contractInShort,
  { open: () => duckdbStore(':memory:'), close: (store) => store.close() },
  { describe, it },
)
