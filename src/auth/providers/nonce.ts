/**
 * The nonce of an ID token (OpenID Connect Core 1.0, 3.1.3.7): it ties the token to the client that requested it, so
 * that a stolen token does not sign in anyone else.
 *
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { sameText } from '../../http/constant-time.ts'
import { fail } from '../option-checks.ts'
import { providerRefused } from '../refusals.ts'
import type { IdTokenOptions } from './provider.ts'

type Rule = NonNullable<IdTokenOptions['nonce']>

const RULES: readonly Rule[] = ['checked', 'required', 'hashed', 'ignored']

/** The setting `nonce` of a provider. */
export function nonceRule(provider: string, value: unknown): Rule {
  if (value === undefined) return 'checked'
  const known = RULES.find((rule) => rule === value)
  return known ?? fail(`'social.${provider}.nonce' must be one of ${RULES.join(', ')}`)
}

/** Compares a token's claim with the body's nonce. Throws a 401. */
export function checkNonce(rule: Rule, claim: unknown, given: unknown): void {
  if (rule === 'ignored') return
  const isGiven = given !== undefined && given !== ''
  if (claim === undefined && !isGiven && rule === 'checked') return
  if (typeof claim !== 'string' || claim === '' || typeof given !== 'string' || !isGiven) {
    throw providerRefused()
  }
  const isHash = sameText(claim, bytesToHex(sha256(utf8ToBytes(given))))
  // Anyone who has a token can read its claim; if clients send hashes to the provider, the claim itself must not be
  // accepted.
  if (!isHash && (rule === 'hashed' || !sameText(claim, given))) throw providerRefused()
}
