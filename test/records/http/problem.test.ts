import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import * as auth from '../../../src/auth/refusals.ts'
import { batch } from '../../../src/batch/index.ts'
import * as batches from '../../../src/batch/refusals.ts'
import * as guards from '../../../src/guards/refusals.ts'
import { codeOf, HttpError } from '../../../src/http/errors/errors.ts'
import { unavailable } from '../../../src/http/errors/outages.ts'
import * as records from '../../../src/http/errors/refusals.ts'
import { failureFor } from '../../../src/http/response/problem.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
import * as uploads from '../../../src/uploads/refusals.ts'

const PROBLEM = 'application/problem+json'

/** Every refusal, with arguments of each kind that it may have. */
const refusals = Object.entries({ records, auth, uploads, guards, batches }).flatMap(
  ([room, module]) =>
    Object.entries(module)
      .filter(([, value]) => typeof value === 'function')
      .map(([name, refuse]) => {
        const lists = /fields|names|paths|allowed/
        const made = refuse as (...values: unknown[]) => HttpError
        const names =
          String(refuse)
            .match(/^\(([^)]*)\)/)?.[1]
            ?.split(',') ?? []
        const values = names.map((one) => {
          if (name === 'invalidFields') return { name: 'Invalid value.' }
          return lists.test(one) && !/field\b/.test(one) ? ['one', 'two'] : '7'
        })
        return [`${room}.${name}`, made(...values)] as const
      }),
)

const codeSent = async (refused: HttpError) => {
  const { status, message: error } = refused
  const failure = { error, requestId: '1', code: codeOf(refused) }
  const made = failureFor({ headers: new Headers({ accept: PROBLEM }) }, status, failure)
  return ((await made.json()) as { code: string }).code
}

/** Whether a row of the manual has the sentence; `<name>` stands for what differs. */
const isSaidIn = (row: string, message: string) =>
  [...row.matchAll(/`([^`]+)`/g)].some(([, sentence = '']) => {
    const literal = sentence.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    return new RegExp(`^${literal.replace(/<[\w ]+>/g, '.+')}$`).test(message)
  })

describe('codes of problem details', () => {
  it('are there for every refusal, one for each sentence', async () => {
    const sentences = new Map<string, Set<string>>()
    for (const [name, error] of [...refusals, ['outages', unavailable()] as const]) {
      const code = await codeSent(error)
      expect([name, codeOf(error) ?? 'invalid-fields']).toEqual([name, code])
      sentences.set(code, (sentences.get(code) ?? new Set()).add(error.message))
    }
    // Only what stands for the same sentence has the same code.
    for (const [code, texts] of sentences) {
      const shapes = [...texts].map((text) => text.replaceAll('one, two', '7'))
      expect([code, new Set(shapes).size]).toEqual([code, 1])
    }
    expect(refusals.length).toBeGreaterThan(150)
  })

  it('are in the manual, each beside its sentence', () => {
    const rows = readFileSync('docs/errors.md', 'utf8').split('\n')
    const made = [...refusals, ['outages', unavailable()] as const]
    // A password is rejected in your own words, which are all of the message.
    const absent = made.filter(([, error]) => {
      const { message } = error
      const code = codeOf(error) ?? 'invalid-fields'
      if (message === '7') return false
      return !rows.some((row) => row.includes(`\`${code}\``) && isSaidIn(row, message))
    })
    expect(absent).toEqual([])
  })
})

const Thing = defineModel('ProblemThing', {
  fields: { name: z.string(), code: z.string().optional() },
  unique: ['code'],
})

function things() {
  const app = createApp({ store: sqliteStore() }).mount('/batch', batch())
  app.mount(
    '/things',
    createRouter({ model: Thing, allowedFields: ['name', 'code'], middlewares: [] }),
  )
  app.post('/own/:status', ({ params }) => {
    const code = params.status === '409' ? { code: 'out-of-stock' } : {}
    throw new HttpError(Number(params.status), 'No such luck.', code)
  })
  app.get('/bug', () => {
    throw new Error('secret')
  })
  onTestFinished(() => app.close())
  return async (method: string, path: string, body?: object, accept = PROBLEM) => {
    const response = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
        headers: {
          ...{ Accept: accept, 'X-Request-Id': 'id-1' },
          ...(body && { 'Content-Type': 'application/json' }),
        },
      }),
    )
    return { response, type: response.headers.get('content-type'), text: await response.text() }
  }
}

describe('Accept: application/problem+json', () => {
  it('gives errors as RFC 9457', async () => {
    const ask = things()
    const { response, type, text } = await ask('POST', '/things', { name: 1 })
    expect([response.status, type, response.headers.get('vary')]).toEqual([400, PROBLEM, 'Accept'])
    expect(response.headers.get('x-request-id')).toBe('id-1')
    expect(JSON.parse(text)).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: 'Check the submitted values.',
      instance: 'id-1',
      code: 'invalid-fields',
      fields: { name: expect.any(String) },
    })
  })

  it.each([
    ['GET', '/nothing', 404, 'not-found'],
    ['GET', '/things/1', 400, 'invalid-id'],
    ['PUT', '/things', 405, 'method-not-allowed'],
    ['GET', `/things/${'0'.repeat(24)}`, 404, 'entry-not-found'],
    ['GET', '/things?sort=none', 400, 'not-sortable'],
    ['GET', '/bug', 500, 'internal-error'],
    ['POST', '/own/409', 409, 'out-of-stock'],
    ['POST', '/own/402', 402, 'payment-required'],
    ['POST', '/own/418', 418, 'client-error'],
  ])('has for %s %s the status %s and the code %s', async (method, path, status, code) => {
    const ask = things()
    const { response, text } = await ask(method, path)
    const problem = JSON.parse(text) as { status: number; code: string }
    expect([response.status, problem.status, problem.code]).toEqual([status, status, code])
    expect(text).not.toContain('secret')
    if (status === 405) expect(response.headers.get('allow')).toContain('POST')
  })

  it('has the fields of a conflict, and the operation of a batch', async () => {
    const ask = things()
    await ask('POST', '/things', { name: 'a', code: 'x' })
    const operation = { method: 'POST', path: '/things', body: { name: 'b', code: 'x' } }
    const { type, text } = await ask('POST', '/batch', { operations: [operation] })
    expect(type).toBe(PROBLEM)
    expect(JSON.parse(text)).toMatchObject({
      ...{ status: 409, code: 'duplicate', detail: 'Duplicate value for: code.' },
      ...{ fields: { code: 'Already exists.' }, operation: 0 },
    })
  })

  it.each(['application/json, application/problem+json', 'Application/Problem+JSON;q=0.1, */*'])(
    'is asked for by %s',
    async (accept) => {
      expect((await things()('GET', '/nothing', undefined, accept)).type).toBe(PROBLEM)
    },
  )

  it.each([
    'application/json',
    '*/*',
    'application/*',
    'application/problem+json;q=0',
    'application/problem+jsonx',
  ])('is not asked for by %s, which gets the envelope as it is', async (accept) => {
    const { response, type, text } = await things()('POST', '/own/409', undefined, accept)
    expect(type).toBe('application/json; charset=utf-8')
    expect(text).toBe('{"success":false,"error":"No such luck.","requestId":"id-1"}')
    expect(response.headers.get('vary')).toBe('Accept')
  })

  it('leaves successes as they are', async () => {
    const { type, text } = await things()('GET', '/things')
    expect([type, JSON.parse(text).success]).toEqual(['application/json; charset=utf-8', true])
  })
})
