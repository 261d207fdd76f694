import { createHash, createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hmacSha256, sha256 } from '../../adapters/hashers/sha256.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('SHA-256 where the runtime has none that can be asked at once', () => {
  it("gives what the runtime's own gives, for each way in which a block may be filled", () => {
    for (let length = 0; length < 300; length += 1) {
      const bytes = randomBytes(length)
      const own = createHash('sha256').update(bytes).digest('hex')
      expect([length, hex(sha256(bytes))]).toEqual([length, own])
    }
    expect(hex(sha256(Buffer.from('abc')))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })

  it('makes the same HMACs, with keys shorter and longer than a block', () => {
    for (const size of [0, 1, 32, 63, 64, 65, 200]) {
      const [key, bytes] = [randomBytes(size), randomBytes(size * 2)]
      const own = createHmac('sha256', key).update(bytes).digest('hex')
      expect([size, hex(hmacSha256(key, bytes))]).toEqual([size, own])
    }
  })
})
