/**
 * Guards that refuse as middlewares of Express do, by every member that Express's own response and request have.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import express5 from 'express'
import express4 from 'express4'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, type Guard } from '../../src/index.ts'
import { City } from '../../test/express/served.ts'
import { callsOf, namesOf, refusalsBy } from '../../test/guards/responses.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** The status of a list behind `guard`. */
async function statusBehind(guard: Guard): Promise<number> {
  const app = createApp({ store: sqliteStore(), logger: quiet, env: {} })
  app.mount('/cities', createRouter({ model: City, middlewares: [guard] }))
  const { status } = await app.handle(new Request('http://h/cities'))
  await app.close()
  return status
}

for (const [name, { response, request }] of Object.entries({
  'Express 4': express4 as unknown as typeof express5,
  'Express 5': express5,
})) {
  it(`lets no request through that a guard refuses by a response of ${name}`, async () => {
    const names = namesOf(response)
    for (const known of ['end', 'status', 'statusCode', 'sendStatus', 'setHeader', 'writeHead'])
      assert.ok(names.includes(known), known)
    for (const each of [...names, 'locals']) {
      for (const guard of refusalsBy(each))
        assert.equal(await statusBehind(guard), 500, `${each}: ${guard}`)
    }
  })

  it(`lets no request through that a guard refuses by a method of a request of ${name}`, async () => {
    for (const each of namesOf(request)) {
      for (const guard of callsOf(each)) assert.equal(await statusBehind(guard), 500, each)
    }
  })
}
