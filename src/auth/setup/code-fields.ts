/**
 * The kinds of one-time code, and where the state of each is stored.
 *
 * @module
 */

import { SECRET_KINDS, type SecretName, type StoredNames } from './field-names.ts'

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
const PARTS = {
  hash: 'Hash',
  expiresAt: 'ExpiresAt',
  attempts: 'Attempts',
  sentAt: 'SentAt',
} as const

/** The state of one kind of code: its stored fields. */
export type Slot = Readonly<Record<keyof typeof PARTS, string>>

/** The stored fields of a kind of code. */
export function slotOf(kind: CodeKind, names: StoredNames): Slot {
  const entries = Object.entries(PARTS).map(([part, end]) => [part, names[nameOf(kind, end)]])
  return Object.fromEntries(entries) as Slot
}

/** The same, with the kind of each field. */
export function codeFields(
  kind: CodeKind,
  names: StoredNames,
): readonly (readonly [field: string, kind: 'string' | 'date' | 'number'])[] {
  return Object.values(PARTS).map((end) => {
    const name = nameOf(kind, end)
    const stored = SECRET_KINDS[name]
    return [names[name], stored === 'string' || stored === 'date' ? stored : 'number']
  })
}

function nameOf(kind: CodeKind, end: (typeof PARTS)[keyof typeof PARTS]): SecretName {
  return `${PREFIXES[kind]}${end}`
}
