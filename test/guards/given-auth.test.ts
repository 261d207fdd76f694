import { describe, expect, test } from 'vitest'
import { HttpError } from '../../src/index.ts'
import { notes } from './notes.ts'

describe('what a server that mounts the app returns from auth', () => {
  test.each([[false], [''], [0], [null], [undefined]])('%j is nobody', async (found) => {
    const seen: unknown[] = []
    const on = notes([
      ({ auth }) => {
        seen.push(auth)
        if (!auth) throw new HttpError(401, 'Sign in first')
      },
    ])
    const platform = { auth: () => found as false }
    expect((await on.ask('GET', '/notes', { platform })).status).toBe(401)
    expect(seen).toEqual([undefined])
  })

  test.each([[true], [1], ['ann'], [{}], [{ userId: '' }], [[]]])(
    '%j is a 500, and no guard runs',
    async (found) => {
      const seen: unknown[] = []
      const on = notes([({ auth }) => void seen.push(auth)])
      const platform = { auth: () => found as never }
      expect((await on.ask('GET', '/notes', { platform })).status).toBe(500)
      expect(seen).toEqual([])
    },
  )
})
