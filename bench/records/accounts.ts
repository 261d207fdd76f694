/**
 * The accounts of the peers, with the same hash and cost as fieldgate's.
 *
 * @module
 */

import { randomBytes, scryptSync } from 'node:crypto'
import { type Asked, PASSWORD } from './asked.ts'

/** An account of a peer. */
export interface Account {
  readonly _id: string
  readonly email: string
  readonly role: string
  /** `scrypt$<N>$<r>$<p>$<salt>$<hash>` */
  readonly password: string
}

/** One account for each address. */
export function accountsOf({ emails }: Asked): Account[] {
  const salt = randomBytes(16)
  const options = { N: 16384, r: 8, p: 5, maxmem: 64 * 1024 * 1024 }
  const hash = scryptSync(PASSWORD, salt, 32, options)
  const password = `scrypt$16384$8$5$${salt.toString('base64url')}$${hash.toString('base64url')}`
  return emails.map((email, at) => ({
    _id: `6553f0ff${at.toString(16).padStart(16, '0')}`,
    email,
    role: 'user',
    password,
  }))
}
