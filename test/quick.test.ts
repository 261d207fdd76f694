import { execFile, spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { withService } from './services/shared.ts'

describe('a quick test', () => {
  it('starts no process', () => {
    expect(() => spawn('true')).toThrow('*.slow.test.ts')
    expect(() => execFile('true')).toThrow('*.slow.test.ts')
  })

  it('asks for no service', async () => {
    await expect(withService('valkey', () => {})).rejects.toThrow('*.slow.test.ts')
  })
})
