/**
 * `npm run route`: how far a request travels through the code, on Node with SQLite in a file, over HTTP, the second time that
 * it is sent. `calls` counts the functions of `src` and `adapters` that it enters, `files` where they stand, and `visits` how
 * often the way leaves one file for another. `--json` for programs, `--trace read` for the functions in their order.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Logger,
  ref,
  userFields,
} from 'fieldgate'
import { serve } from 'fieldgate/node'
import { sqliteStore } from 'fieldgate/sqlite'
import * as z from 'zod'
import { way } from './way.ts'

/**
 * What comes while passwords are hashed, more often on a busy machine: clocks of even steps of time and of stalled connections
 * tick, and connections open and close.
 */
const BESIDE =
  /^(?:src\/auth\/routes\/even-time\.ts#anonymous|adapters\/runtimes\/node-(?:stalled\.ts#.*|connections\.ts#anonymous))$/

const folder = mkdtempSync(join(tmpdir(), 'fieldgate-route-'))
const { url, close } = await serve(app(join(folder, 'route.db')), {
  port: 0,
  hostname: '127.0.0.1',
})
const requests = await prepared(url)
const { json, trace } = parseArgs({
  options: { json: { type: 'boolean' }, trace: { type: 'string' } },
}).values

const report: Record<string, object> = {}
for (const [name, send] of Object.entries(requests)) {
  await (await send()).text()
  // On a busy machine a request may have to wait for its turn; the shortest of three ways is its own.
  const ways = [await stepsOf(send), await stepsOf(send), await stepsOf(send)]
  const [steps = []] = ways.sort((a, b) => a.length - b.length)
  const files = steps.map((step) => step.slice(0, step.indexOf('#')))
  const visits = files.filter((file, at) => file !== files[at - 1]).length
  report[name] = { calls: steps.length, files: new Set(files).size, visits }
  if (name === trace) console.log(steps.join('\n'))
}
if (json) console.log(JSON.stringify(report))
else if (!trace) console.table(report)
await close()
rmSync(folder, { recursive: true })

/** The functions that a request enters. */
async function stepsOf(send: () => Promise<Response>): Promise<string[]> {
  await atRest()
  way.log = []
  const response = await send()
  await response.text()
  await atRest()
  const steps = way.log
    .map((index) => way.names[index] as string)
    .filter((step) => !BESIDE.test(step))
  way.log = undefined
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`)
  return steps
}

/** Waits until nothing has run for a while: what a request leaves to do belongs to its way, and nothing else does. */
async function atRest(): Promise<void> {
  for (let before = -1; before !== (way.log?.length ?? 0); await pause(20))
    before = way.log?.length ?? 0
}

function app(path: string) {
  const Country = defineModel('Country', { fields: { name: z.string() } })
  const City = defineModel('City', {
    fields: { name: z.string(), population: z.number().int(), country: ref('Country').optional() },
    indexes: ['population'],
  })
  const refresh = { enabled: true } as const
  const User = defineModel('User', { fields: userFields({ refresh }), unique: ['email'] })
  const logger: Logger = { debug() {}, info() {}, warn() {}, error: console.error }
  const lists = {
    model: City,
    middlewares: [],
    query: ['population'],
    search: ['name'],
    allowedFields: ['name', 'population', 'country'],
  } as const
  return createApp({ store: sqliteStore({ path }), secret: 's'.repeat(40), env: {}, logger })
    .mount(
      '/auth',
      createAuthRouter({ model: User, refresh, token: { secret: 'x'.repeat(40) } }).router,
    )
    .mount('/countries', createRouter({ model: Country, middlewares: [], allowedFields: ['name'] }))
    .mount('/cities', createRouter(lists))
    .mount('/populated', createRouter({ ...lists, onGet: () => ({ populate: 'country' }) }))
    .mount('/feed', createRouter({ ...lists, pagination: 'cursor' }))
}

/** Stores what is read, and returns the requests. */
async function prepared(url: string): Promise<Record<string, () => Promise<Response>>> {
  const headers = { 'content-type': 'application/json' }
  const send = (method: string, path: string, body: object) =>
    fetch(url + path, { method, headers, body: JSON.stringify(body) })
  const created = async (path: string, body: object) =>
    ((await (await send('POST', path, body)).json()) as { data: { _id: string } }).data._id
  const country = await created('/countries', { name: 'Brazil' })
  let city = ''
  for (let population = 0; population < 5; population += 1) {
    city = await created('/cities', { name: `Sao Paulo ${population}`, population, country })
  }
  const account = { email: 'ann@example.ch', password: 'correct horse battery staple' }
  await send('POST', '/auth/register', account)
  const first = await (await fetch(`${url}/feed?pageSize=2`)).json()
  const { nextCursor } = (first as { pagination: { nextCursor: string } }).pagination
  let serial = 0
  return {
    read: () => fetch(`${url}/cities/${city}`),
    list: () => fetch(`${url}/cities?population=3`),
    search: () => fetch(`${url}/cities?s=paulo`),
    cursor: () => fetch(`${url}/feed?pageSize=2&cursor=${encodeURIComponent(nextCursor)}`),
    populate: () => fetch(`${url}/populated?s=paulo`),
    create: () => send('POST', '/cities', { name: 'X', population: 3 }),
    patch: () => send('PATCH', `/cities/${city}`, { population: 4 }),
    login: () => send('POST', '/auth/login', account),
    register: () => {
      serial += 1
      return send('POST', '/auth/register', { ...account, email: `n${serial}@example.ch` })
    },
  }
}
