import { d1Store } from '../../../adapters/stores/sqlite/d1.ts'
import { freshD1 } from '../../stores/d1/databases.ts'
import { hooks } from './suite.ts'

const fresh = await freshD1(10)

hooks('D1', () => {
  const binding = fresh()
  return [d1Store(binding), d1Store(binding)]
})
