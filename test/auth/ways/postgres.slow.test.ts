import { expect, it } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { explore } from './sequences.ts'

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()
  it('the same on PostgreSQL', { timeout: 600_000 }, async () => {
    const count = Number(process.env.SEQUENCES ?? 2000)
    expect(await explore(postgresStore({ url, schema }), count, 200_001)).toBeUndefined()
  })
})
