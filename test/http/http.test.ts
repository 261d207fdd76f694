import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, client } from './client.ts'
import { type Running, runtimes, start } from './runtimes.ts'
import { suite, type World } from './suite.ts'

const transcripts = new Map<string, string>()

describe.each(Object.entries(runtimes))('the contract over HTTP: %s on SQLite', (name, command) => {
  let server: Running
  let asking: Client
  let world: World

  beforeAll(async () => {
    server = await start(command)
    asking = client(server.base)
    world = { base: server.base, countries: new Map(), cities: new Map() }
  })
  afterAll(async () => {
    transcripts.set(name, asking.transcript())
    await server.stop()
  })

  for (const [sentence, check] of Object.entries(suite)) {
    it(sentence, () => check(asking, world))
  }
})

describe('runtime parity', () => {
  it('all runtimes gave the same transcript, byte by byte', () => {
    expect([...transcripts.keys()]).toEqual(Object.keys(runtimes))
    const [first, ...others] = [...transcripts.values()]
    for (const other of others) expect(other).toBe(first)
  })
})
