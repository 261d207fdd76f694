import postgres from 'postgres'
import { afterAll, describe, it } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { verify } from '../../../src/contract/index.ts'
import { storeContract } from '../../../src/contract/store/contract.ts'
import { withService } from '../../services/shared.ts'

await withService('postgres', ({ url }) => {
  const admin = postgres(url, { onnotice: () => {} })
  const schemas: string[] = []
  afterAll(async () => {
    for (const schema of schemas) await admin`DROP SCHEMA IF EXISTS ${admin(schema)} CASCADE`
    await admin.end()
  })

  verify(
    'PostgreSQL',
    storeContract,
    {
      open() {
        const schema = `contract_${crypto.randomUUID()}`
        schemas.push(schema)
        return postgresStore({ url, schema })
      },
      close: (store) => store.close(),
      without: {
        'members of objects keep their order': 'jsonb has an order of its own for them',
      },
    },
    { describe, it },
  )
})
