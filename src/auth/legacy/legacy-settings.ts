/**
 * The `legacyTokens` option, resolved.
 *
 * @module
 */

import { settingsOf, string } from '../option-checks.ts'
import type { LegacyTokenOptions } from '../setup/options.ts'
import { type Secrets, secretsOf, type TokenSettings } from '../setup/token-settings.ts'

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
  const { secret: secrets, ...settings } = settingsOf<
    Omit<LegacySettings, 'secrets'> & { readonly secret: Secrets }
  >('legacyTokens', option, { secret: secretsOf, issuer: string, audience: string })
  return { secrets, ...settings }
}

/** A start-up warning if the old secret alone decides who is an admin. */
export function legacyAdvice(
  { issuer, audience }: LegacySettings,
  { invalidateOnPasswordChange }: TokenSettings,
): string | undefined {
  if (invalidateOnPasswordChange || issuer !== undefined || audience !== undefined) return undefined
  return "'legacyTokens' with 'token.invalidateOnPasswordChange: false' takes the role from any JWT that the old secret signed. Set 'legacyTokens.issuer' or 'legacyTokens.audience', or let the user be read"
}
