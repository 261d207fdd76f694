import { describe, expect, it } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../src/index.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { password } from './accounts.ts'
import { service } from './service.ts'

function spellings(name: string, open: () => Store): void {
  it(`those that look alike are one account, or no address at all: ${name}`, async () => {
    const { post, register, sent } = await service({ store: open() })
    const status = async (email: string) =>
      (await post('/auth/register', { email, password })).status
    const mailedTo = async (email: string) => {
      const before = sent.length
      expect((await post('/auth/password/forgot', { email })).status).toBeLessThan(500)
      return sent.slice(before).map(({ to }) => to)
    }
    await register('kelvin@example.com')
    await register('caf\u00e9@example.com')
    for (const [email, stored] of [
      ['\u212Aelvin@example.com', 'kelvin@example.com'],
      ['cafe\u0301@example.com', 'caf\u00e9@example.com'],
    ] as const) {
      expect(await status(email)).toBe(409)
      expect(await mailedTo(email)).toEqual([stored])
    }
    for (const email of [
      'kelvin\uFF20example.com',
      'a@kelvin\uFF20example.com',
      'kel\u200Bvin@example.com',
      'kelvin@example.com.',
      'kelvin@example.com\r\nBcc: all@example.com',
    ]) {
      expect(await status(email)).toBe(400)
      expect(await mailedTo(email)).toEqual([])
    }
    // Letters of their own: without a dot, and with one.
    for (const email of ['kelv\u0131n@example.com', 'kelv\u0130n@example.com']) {
      expect(await mailedTo(email)).toEqual([])
      expect(await status(email)).toBe(201)
    }
  })
}

describe('Spellings of an address', () => {
  spellings('SQLite', () => sqliteStore())
})

await withService('mongo', ({ url }) => {
  const place = new URL(url)
  place.pathname = `/spellings${process.pid}`
  describe('Spellings of an address', () => {
    spellings('MongoDB', () => mongoStore({ url: place.href }))
  })
})

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()
  describe('Spellings of an address', () => {
    spellings('PostgreSQL', () => postgresStore({ url, schema }))
  })
})
