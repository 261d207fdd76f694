/**
 * Models of random schemas, whose app must answer as its document says, and take what the document allows.
 *
 * @module
 */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { assert, expect } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Model,
} from '../../../src/index.ts'
import { document } from '../../../src/openapi/index.ts'
import { type Answer, answerOf, recordedLog, request } from '../../records/service.ts'
import { type Case, cases } from './schemas.ts'

/** Sends requests to `models` random models, and checks each response by the document of its app. */
export function said(models: number): Promise<void> {
  const fields = fc.dictionary(fc.constantFrom('f', 'or', 'two words', 'é'), cases, {
    minKeys: 1,
    maxKeys: 3,
  })
  const property = fc.asyncProperty(fields, fc.boolean(), sendAll)
  return fc.assert(property, { numRuns: models })
}

async function sendAll(fields: Readonly<Record<string, Case>>, isRoot: boolean): Promise<void> {
  const all = Object.entries(fields)
  const shape = Object.fromEntries(all.map(([name, { schema }]) => [name, schema]))
  const values = { ...Object.fromEntries(all.map(([name, { value }]) => [name, value])), name: 'a' }
  const root = { name: z.string(), ...shape }
  const Said = defineModel('Said by whom', {
    fields: isRoot ? z.object(root).meta({ id: 'Said' }) : root,
    timestamps: isRoot,
  }) as unknown as Model
  const log = recordedLog()
  const app = createApp({ store: sqliteStore(), logger: log, env: {} })
  const options = { model: Said, middlewares: [], allowedFields: Object.keys(root) }
  app.mount('/said', createRouter({ ...options, exportLimit: 10 } as never))
  const checked = checker(document(app, { title: 'Test', version: '1.0' }))
  const send = async (method: string, path: string, json?: unknown): Promise<Answer> => {
    const answer = await answerOf(await app.handle(request(method, path, { json })))
    checked(method, path, json, answer)
    return answer
  }
  try {
    const { status, text, record } = await send('POST', '/said', values)
    expect([status, text]).toEqual([201, text])
    const one = `/said/${record._id}`
    expect((await send('GET', one)).record).toEqual(record)
    expect((await send('GET', '/said')).records).toEqual([record])
    await send('QUERY', '/said', { sort: [], pageSize: 1 })
    for (const [name, { value }] of all) {
      if (value === undefined) continue
      const changed = await send('PATCH', one, { [name]: value })
      expect([changed.status, changed.text]).toEqual([200, changed.text])
      const kept = (of: Fields) => ({ ...of, updatedAt: undefined, [name]: undefined })
      expect(kept(changed.record)).toEqual(kept(record))
    }
    // Null may be a value, mean none, or be wrong.
    for (const [name] of all) {
      await send('POST', '/said', { ...values, [name]: null })
      await send('PATCH', one, { [name]: null })
    }
    await send('POST', '/said', { name: 5 })
    await send('DELETE', one)
    await send('GET', one)
  } finally {
    await app.close()
  }
}

/** Checks a response, and that what was refused as malformed is so by the document. */
function checker(made: ReturnType<typeof document>) {
  const ajv = new Ajv2020({ strict: false, logger: false })
  // Those of zod that JSON Schema has not are in their patterns.
  formats.default(ajv)
  ajv.addSchema({ $id: 'said:', ...JSON.parse(JSON.stringify(made)) })
  const known = new Map<string, ValidateFunction>()
  const schemaAt = (...keys: readonly string[]): ValidateFunction => {
    const $ref = `said:#/${keys.map((key) => encodeURIComponent(key.replaceAll('/', '~1'))).join('/')}`
    const found = known.get($ref) ?? ajv.compile({ $ref })
    known.set($ref, found)
    return found
  }
  return (method: string, path: string, json: unknown, { status, body, text }: Answer) => {
    const [at, name] = [path.length > 10 ? '/said/{id}' : '/said', method.toLowerCase()]
    const { responses } = made.paths[at]?.[name] ?? assert.fail(`no ${method} ${at}`)
    expect(Object.keys(responses), text).toContain(String(status))
    const response = responses[String(status)] as { readonly $ref?: string }
    expect(response.$ref).toBeUndefined()
    const json200 = ['content', 'application/json', 'schema']
    const isSaid = schemaAt('paths', at, name, 'responses', String(status), ...json200)
    expect([isSaid(body), isSaid.errors, text]).toEqual([true, null, text])
    if (json === undefined) return
    const isAllowed = schemaAt('paths', at, name, 'requestBody', ...json200)
    if (status === 400) expect([isAllowed(json), json]).toEqual([false, json])
  }
}
