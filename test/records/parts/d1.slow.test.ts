import { d1Store } from '../../../adapters/stores/sqlite/d1.ts'
import type { Store } from '../../../src/index.ts'
import { freshD1 } from '../../stores/d1/databases.ts'
import { nulls } from './nulls.ts'
import { objects } from './objects.ts'

const fresh = await freshD1(60)

/** Stores on a database that no other test has had. */
function open(): { store(): Store } {
  const binding = fresh()
  return { store: () => d1Store(binding) }
}

nulls('D1', () => open().store())
objects('D1', open)
