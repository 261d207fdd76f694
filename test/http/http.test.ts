import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withService } from '../services/shared.ts'
import { addressOf } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import type { World } from './check.ts'
import { type Client, client } from './client.ts'
import { type Running, runtimes, start } from './runtimes.ts'
import { suite } from './suite.ts'
import { startObjects, startWorkerd } from './workerd.ts'

const transcripts = new Map<string, string>()

/** Registers the whole suite for one runtime and store. */
function conforms(name: string, open: () => Promise<Running>): void {
  describe(`the contract over HTTP: ${name}`, () => {
    let server: Running
    let asking: Client
    let world: World

    beforeAll(async () => {
      server = await open()
      asking = client(server.base)
      world = { base: server.base, countries: new Map(), cities: new Map(), tokens: new Map() }
    })
    afterAll(async () => {
      transcripts.set(name, asking.transcript())
      await server.stop()
    })

    for (const [sentence, check] of Object.entries(suite)) {
      it(sentence, () => check(asking, world))
    }
  })
}

for (const [runtime, command] of Object.entries(runtimes)) {
  conforms(`${runtime} on SQLite`, () => start(command))
}

conforms('workerd on D1', startWorkerd)

await withService('mongo', ({ url }) => {
  const own = () => {
    const database = new URL(url)
    database.pathname = `/http-${crypto.randomUUID()}`
    return database.href
  }
  for (const [runtime, command] of Object.entries(runtimes)) {
    conforms(`${runtime} on MongoDB`, () => start(command, { STORE: own() }))
  }
  conforms('workerd on MongoDB, through Durable Objects', () => startObjects(own()))
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const own = () => addressOf(url, fresh())
  for (const [runtime, command] of Object.entries(runtimes)) {
    conforms(`${runtime} on PostgreSQL`, () => start(command, { STORE: own() }))
  }
  conforms('workerd on PostgreSQL, through Hyperdrive and Durable Objects', () =>
    startObjects(own()),
  )
})

describe('runtime parity', () => {
  it('every runtime on every store gave the same transcript, byte by byte', () => {
    expect(transcripts.size).toBeGreaterThanOrEqual(Object.keys(runtimes).length)
    const [first, ...others] = [...transcripts.values()]
    for (const other of others) expect(other).toBe(first)
  })
})
