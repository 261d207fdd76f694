import { expect, it } from 'vitest'
import { s3Files } from '../../../adapters/files/s3.ts'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { seeds } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { sequence } from './run.ts'

const rounds = 40

it.each(seeds(4))(
  'random writes with files leave what the records show (SQLite, seed %i)',
  async (seed) => {
    const statuses = await sequence({ seed, rounds, faults: seed % 2 === 0 })
    expect(statuses.get(200)).toBeGreaterThan(0)
  },
  60_000,
)

await withService('seaweed', ({ url: endpoint, ...place }) => {
  it.each(seeds(2))(
    'random writes with files leave what the records show (S3, seed %i)',
    async (seed) => {
      const files = s3Files({ endpoint, ...place })
      const statuses = await sequence({ seed, rounds, faults: seed % 2 === 0, files })
      expect(statuses.get(200)).toBeGreaterThan(0)
    },
    90_000,
  )
})

await withService('postgres', ({ url }) => {
  it.each(seeds(2))(
    'random writes with files leave what the records show (PostgreSQL, seed %i)',
    async (seed) => {
      const store = postgresStore({ url, schema: `files_${seed}_${Date.now()}` })
      expect((await sequence({ seed, rounds, faults: false, store })).get(200)).toBeGreaterThan(0)
    },
    60_000,
  )
})

await withService('mongo', ({ url }) => {
  it.each(seeds(2))(
    'random writes with files leave what the records show (MongoDB, seed %i)',
    async (seed) => {
      const store = mongoStore({ url, database: `files_${seed}_${Date.now()}` })
      expect((await sequence({ seed, rounds, faults: false, store })).get(200)).toBeGreaterThan(0)
    },
    60_000,
  )
})
