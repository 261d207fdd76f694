/**
 * The `legacyTokens` option, resolved.
 *
 * @module
 */

import { group, string } from '../option-checks.ts'
import type { LegacyTokenOptions } from './options.ts'
import { type Secrets, secretsOf } from './token-settings.ts'

/** Settings for the tokens of express-controller-sets. */
export interface LegacySettings {
  /** All verify. */
  readonly secrets: Secrets
  readonly issuer: string | undefined
  readonly audience: string | undefined
}

/** Resolves the option; undefined if it is not set. */
export function legacySettings(option: LegacyTokenOptions | undefined): LegacySettings | undefined {
  if (option === undefined) return undefined
  const given = group('legacyTokens', option, ['secret', 'issuer', 'audience'])
  return {
    secrets: secretsOf('legacyTokens.secret', given.secret),
    issuer: string('legacyTokens.issuer', given.issuer),
    audience: string('legacyTokens.audience', given.audience),
  }
}
