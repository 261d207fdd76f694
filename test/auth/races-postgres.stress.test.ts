import { withService } from '../services/shared.ts'
import { addressOf } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { processOn } from './peers.ts'
import { races } from './races.ts'

await withService('postgres', ({ url }) => {
  const opener = new URL('stores/postgres.ts', import.meta.url)
  races('two processes on PostgreSQL', processOn(opener, addressOf(url, freshSchemas(url)())))
})
