import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, defineModel } from '../../src/index.ts'
import { password } from './accounts.ts'
import { service } from './service.ts'

const client = { clientAddress: '203.0.113.9' }
const values = [
  'x',
  5,
  true,
  {},
  [null],
  [5],
  [{}],
  [{ kind: 'email' }],
  [{ kind: 'email', until: 'x', count: 'y' }],
  [{ client: 'x', guesses: 'y' }],
  [{ id: 'x', hash: 'y', createdAt: 'z' }],
]
const fields = [
  'failedLoginAttempts',
  'lockedUntil',
  'wrongPasswords',
  'knownClients',
  'knownTries',
  'otpHash',
  'otpExpiresAt',
  'otpAttempts',
  'otpSentAt',
  'passwordChangedAt',
  'provenEmail',
  'refreshTokens',
  'takeovers',
]

describe('L12: a record that another program has damaged', () => {
  it.each(fields)('is never a 500: %s', async (field) => {
    const store = sqliteStore()
    const app = await service({ store })
    const post = async (path: string, body: object) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
      const request = new Request(`http://localhost/auth${path}`, {
        ...init,
        body: JSON.stringify(body),
      })
      const later: Promise<unknown>[] = []
      const waitUntil = (work: Promise<unknown>) => later.push(work)
      const { status } = await app.app.handle(request, undefined, { ...client, waitUntil })
      await Promise.all(later)
      return status
    }
    const identifier = 'ann@example.com'
    expect(await post('/register', { email: identifier, password })).toBe(201)
    await post('/password/forgot', { identifier })
    const reset = { identifier, code: '0', newPassword: 'another battery 1' }
    expect(await post('/password/reset', reset)).toBe(400)

    const Other = defineModel('Other', {
      collection: 'users',
      fields: { [field]: z.unknown().optional() },
    })
    const other = createApp({ store, env: {} }).store.collection(Other)
    const [{ _id = '' } = {}] = await other.find()
    const before = (await other.findById(_id))?.[field]
    for (const value of values) {
      await other.update(_id, { [field]: value })
      const statuses = [
        await post('/password/forgot', { identifier }),
        await post('/password/reset', reset),
        await post('/login', { identifier, password: 'wrong' }),
        await post('/login', { identifier, password }),
      ]
      expect(statuses.filter((status) => status >= 500)).toEqual([])
      await other.update(_id, { [field]: before })
    }
  })
})
