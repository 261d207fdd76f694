import { expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { storm } from './storm.ts'

await withService('postgres', ({ url }) => {
  it('what PostgreSQL was asked amid an outage is no 500, is written once, and works again', async () => {
    const schema = `storm_${Date.now()}`
    const storeAt = (port: number) => {
      const address = new URL(url)
      address.host = `127.0.0.1:${port}`
      return postgresStore({ url: address.href, schema, max: 5 })
    }
    expect(await storm(url, storeAt, runs(1))).toBeUndefined()
  }, 300_000)
})

await withService('mongo', ({ url }) => {
  it('what MongoDB was asked amid an outage is no 500, is written once, and works again', async () => {
    const database = `storm_${Date.now()}`
    const storeAt = (port: number) =>
      mongoStore({ url: `mongodb://127.0.0.1:${port}/?directConnection=true`, database })
    expect(await storm(url, storeAt, runs(1))).toBeUndefined()
  }, 300_000)
})
