import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { freshD1 } from '../stores/d1/databases.ts'
import { changes } from './changes.ts'
import { meanwhile } from './meanwhile.ts'
import type { Database } from './served.ts'

const fresh = await freshD1(60)

const database: Database = async () => {
  const binding = fresh()
  return () => d1Store(binding)
}

changes('D1', database)
meanwhile('D1', database)
