import { withService } from '../services/shared.ts'
import { database } from './recorded/database.ts'
import { test } from './recorded/run.ts'

await withService('mongo', ({ url }) => test('database', database(url)))
