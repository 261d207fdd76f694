/** Who may call an operation, by what the guards say of themselves. */

import * as account from '../../auth/refusals.ts'
import type { HttpError } from '../../http/errors/errors.ts'
import {
  descriptionsOf,
  type GuardDescription,
  letsThrough,
  textsOf,
} from '../../records/engine/guards.ts'
import type { Guard } from '../../records/engine/route.ts'
import type { Security } from '../specification.ts'

export interface Demands {
  readonly security: Security
  /** In words; empty if anyone may call it. */
  readonly texts: readonly string[]
  /** The roles of which each guard demands one. */
  readonly roles: readonly (readonly string[])[]
  readonly refusals: readonly HttpError[]
  /** Whether a guard of the app may respond with any status. */
  readonly isOpen: boolean
  lets(method: string): boolean
}

/** The scheme of a name in `Demands.security`: access tokens, or a header with an API key. */
export function schemeOf(name: string): object {
  return name === BEARER
    ? { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }
    : { type: 'apiKey', in: 'header', name }
}

const BEARER = 'bearer'

export function demandsOf(guards: readonly Guard[]): Demands {
  const all = descriptionsOf(guards)
  return {
    security: securityOf(all),
    texts: textsOf(guards),
    roles: all.flatMap(({ roles }) => (roles ? [roles] : [])),
    refusals: refusalsOf(all),
    isOpen: all.some(({ token, refusals }) => token === undefined && !refusals),
    lets: (method) => letsThrough(guards, method),
  }
}

function securityOf(all: readonly GuardDescription[]): Security {
  const keys = all.flatMap(({ apiKey }) => apiKey ?? [])
  const needsToken = all.some(({ token }) => token === 'required')
  const takesToken = !needsToken && all.some(({ token }) => token === 'optional')
  const needed = Object.fromEntries(
    [...keys, ...(needsToken ? [BEARER] : [])].map((name) => [name, []]),
  )
  if (takesToken) return [needed, { ...needed, [BEARER]: [] }]
  return Object.keys(needed).length > 0 ? [needed] : []
}

function refusalsOf(all: readonly GuardDescription[]): readonly HttpError[] {
  const reads = all.filter(({ token }) => token !== undefined)
  const own = all.flatMap(({ refusals = [] }) => refusals)
  if (reads.length === 0) return own
  const needs = reads.some(({ token }) => token === 'required')
  return [
    ...own,
    ...(needs ? [account.authenticationRequired()] : []),
    account.invalidToken(),
    account.sessionEnded(),
    account.notActive(),
    ...(reads.some(({ text }) => text.startsWith('role ')) ? [account.noAccess()] : []),
  ]
}
