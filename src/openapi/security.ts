/**
 * Who may call an operation, by what the guards say of themselves.
 *
 * @module
 */

import {
  authenticationRequired,
  invalidToken,
  noAccess,
  notActive,
  sessionEnded,
} from '../auth/refusals.ts'
import type { HttpError } from '../http/errors.ts'
import { descriptionOf, type GuardDescription } from '../records/engine/guards.ts'
import type { Guard } from '../records/engine/route.ts'
import type { Security } from './specification.ts'

/** What the guards of an operation demand. */
export interface Demands {
  readonly security: Security
  /** In words; empty if anyone may call it. */
  readonly texts: readonly string[]
  readonly refusals: readonly HttpError[]
  /** Whether a guard of the app may respond with any status. */
  readonly isOpen: boolean
}

/** Access tokens, as `requireAuth` reads them. */
export const BEARER: object = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }

const UNKNOWN: GuardDescription = { text: 'guarded' }

/** The demands of `guards`, in their order. */
export function demandsOf(guards: readonly Guard[]): Demands {
  const all = guards.map((guard) => descriptionOf(guard) ?? UNKNOWN)
  return {
    security: securityOf(all),
    texts: [...new Set(all.map(({ text }) => text).filter((text) => text !== 'anyone'))],
    refusals: refusalsOf(all),
    isOpen: all.some(({ token }) => token === undefined),
  }
}

function securityOf(all: readonly GuardDescription[]): Security {
  if (all.some(({ token }) => token === 'required')) return [{ bearer: [] }]
  return all.some(({ token }) => token === 'optional') ? [{}, { bearer: [] }] : []
}

function refusalsOf(all: readonly GuardDescription[]): readonly HttpError[] {
  const reads = all.filter(({ token }) => token !== undefined)
  if (reads.length === 0) return []
  const needs = reads.some(({ token }) => token === 'required')
  return [
    ...(needs ? [authenticationRequired()] : []),
    invalidToken(),
    sessionEnded(),
    notActive(),
    ...(reads.some(({ text }) => text.startsWith('role ')) ? [noAccess()] : []),
  ]
}
