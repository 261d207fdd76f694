import { d1Store } from '../../../adapters/stores/sqlite/d1.ts'
import { freshD1 } from '../../stores/d1/databases.ts'
import { dates } from './suite.ts'

const fresh = await freshD1(50)
dates('D1', () => d1Store(fresh()))
