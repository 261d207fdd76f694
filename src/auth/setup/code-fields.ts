/**
 * The kinds of one-time code, and where the state of each is stored.
 *
 * @module
 */

import type { StoredName } from './field-names.ts'

/** What a code is for and how it is sent: a password reset by mail or by SMS, or the proof of a mailbox. */
export type CodeKind = 'email' | 'sms' | 'verification'

/** The kinds of code that reset a password. */
export type ResetCode = Exclude<CodeKind, 'verification'>

/** The state of one kind of code: the stored names of its fields. */
export interface Slot {
  /** What the code is bound to besides its address. */
  readonly purpose: string
  readonly hash: StoredName
  readonly expiresAt: StoredName
  readonly attempts: StoredName
  readonly sentAt: StoredName
}

/** The state of each kind. Two kinds share nothing, so a request for one changes nothing of the other. */
export const SLOTS: Readonly<Record<CodeKind, Slot>> = {
  email: {
    purpose: 'passwordReset:email',
    hash: 'otpHash',
    expiresAt: 'otpExpiresAt',
    attempts: 'otpAttempts',
    sentAt: 'otpSentAt',
  },
  sms: {
    purpose: 'passwordReset:sms',
    hash: 'smsOtpHash',
    expiresAt: 'smsOtpExpiresAt',
    attempts: 'smsOtpAttempts',
    sentAt: 'smsOtpSentAt',
  },
  verification: {
    purpose: 'emailVerification',
    hash: 'verifyOtpHash',
    expiresAt: 'verifyOtpExpiresAt',
    attempts: 'verifyOtpAttempts',
    sentAt: 'verifyOtpSentAt',
  },
}

/** Every kind of code. */
export const CODE_KINDS: readonly CodeKind[] = ['email', 'sms', 'verification']

/** The kinds of code that reset a password. */
export const RESET_CODES: readonly ResetCode[] = ['email', 'sms']

/** The stored names that a kind of code needs, with their types. */
export function codeFields(
  kind: CodeKind,
): readonly (readonly [StoredName, 'string' | 'date' | 'number'])[] {
  const { hash, expiresAt, attempts, sentAt } = SLOTS[kind]
  return [
    [hash, 'string'],
    [expiresAt, 'date'],
    [attempts, 'number'],
    [sentAt, 'date'],
  ]
}
