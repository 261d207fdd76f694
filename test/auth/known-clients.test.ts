import { expect, it } from 'vitest'
import { type KnownClient, KnownClients } from '../../src/auth/instance/known-clients.ts'
import type { Users } from '../../src/auth/instance/users.ts'
import { keysFor } from '../../src/auth/keys/signing.ts'
import { secret } from './accounts.ts'

const NOW = 1_000_000
const MINUTE = 60_000
const users = {
  names: { knownClients: 'clients' },
  has: () => true,
  now: () => NOW,
  settings: { lockout: { lockSeconds: 60 } },
} as never as Users
const keys = keysFor([secret], { model: 'User', mount: '/auth' }, 'known client')
const clients = new KnownClients(users, keys)

/** A client that was there `minutes` ago; then `guesses` wrong passwords, and for how long it is locked. */
const one = (client: string, minutes: number, guesses = 0, locked?: number): KnownClient => ({
  client,
  guesses,
  at: new Date(NOW - minutes * MINUTE),
  ...(locked !== undefined && { lockedUntil: new Date(NOW + locked * MINUTE) }),
})
const idle = ['b', 'c', 'd', 'e'].map((name) => one(name, 0))

it.each<[string, KnownClient, string | undefined]>([
  ['without guesses', one('a', 0), 'bcde'],
  ['whose guesses count no longer', one('a', 1, 2), 'bcde'],
  ['whose guesses still count', one('a', 0, 2), 'acde'],
  ['that is locked', one('a', 2, 3, 1), 'acde'],
  ['whose lock is over', one('a', 2, 3, 0), 'bcde'],
])('a sixth client takes the place of the first, %s, or of the next', (_, first, left) => {
  const user = { _id: '1', clients: [first, ...idle] }
  const { write, knewOthers } = clients.adding(user, 'new')
  const list = write?.set?.clients as KnownClient[]
  expect(knewOthers).toBe(true)
  expect(list).toHaveLength(5)
  expect(
    list
      .slice(0, 4)
      .map(({ client }) => client)
      .join(''),
  ).toBe(left)
})

it('a sixth client stays unknown while the guesses of all five count', () => {
  const user = { _id: '1', clients: ['a', 'b', 'c', 'd', 'e'].map((name) => one(name, 0, 1)) }
  expect(clients.adding(user, 'new')).toEqual({ write: undefined, knewOthers: true })
})
