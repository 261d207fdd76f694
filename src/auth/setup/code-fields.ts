/**
 * The kinds of one-time code, and where the state of each is stored.
 *
 * @module
 */

import type { SecretName, StoredNames } from './field-names.ts'

/** What a code is for and how it is sent: a password reset by mail or by SMS, or the proof of a mailbox. */
export type CodeKind = 'email' | 'sms' | 'verification'

/** The kinds of code that reset a password. */
export type ResetCode = Exclude<CodeKind, 'verification'>

/** Every kind of code. */
export const CODE_KINDS: readonly CodeKind[] = ['email', 'sms', 'verification']

/** The kinds of code that reset a password. */
export const RESET_CODES: readonly ResetCode[] = ['email', 'sms']

/** What a kind of code is bound to besides its address. */
export const CODE_PURPOSES: Readonly<Record<CodeKind, string>> = {
  email: 'passwordReset:email',
  sms: 'passwordReset:sms',
  verification: 'emailVerification',
}

/** How the names of a kind's fields begin. Two kinds share nothing, so a request for one changes nothing of the other. */
const PREFIXES = { email: 'otp', sms: 'smsOtp', verification: 'verifyOtp' } as const

/** The state of one kind of code: its stored fields. */
export type Slot = Readonly<Record<'hash' | 'expiresAt' | 'attempts' | 'sentAt', string>>

/** The stored fields of a kind of code. */
export function slotOf(kind: CodeKind, names: StoredNames): Slot {
  const [hash, expiresAt, attempts, sentAt] = codeFields(kind)
  return {
    hash: names[hash],
    expiresAt: names[expiresAt],
    attempts: names[attempts],
    sentAt: names[sentAt],
  }
}

/** The default names of the fields of a kind of code. */
export function codeFields(
  kind: CodeKind,
): readonly [hash: SecretName, expiresAt: SecretName, attempts: SecretName, sentAt: SecretName] {
  const prefix = PREFIXES[kind]
  return [`${prefix}Hash`, `${prefix}ExpiresAt`, `${prefix}Attempts`, `${prefix}SentAt`]
}
