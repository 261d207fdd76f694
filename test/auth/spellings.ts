/**
 * Spellings of an address that look alike, on any store.
 *
 * @module
 */

import { expect, it } from 'vitest'
import type { Store } from '../../src/index.ts'
import { password } from './accounts.ts'
import { service } from './service.ts'

/** Registers the test for the store that `open` opens. */
export function spellings(name: string, open: () => Store): void {
  it(`spellings of an address that look alike are one account, or no address at all, on ${name}`, async () => {
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
