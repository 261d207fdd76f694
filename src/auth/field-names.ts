/**
 * The names under which a user's record stores things (spec 2.4); each can be renamed.
 *
 * @module
 */

const NAMES = [
  'email',
  'phone',
  'name',
  'password',
  'role',
  'passwordChangedAt',
  'googleId',
  'appleId',
  'facebookId',
  'githubId',
  'otpHash',
  'otpPurpose',
  'otpExpiresAt',
  'otpAttempts',
  'otpSentAt',
  'smsOtpHash',
  'smsOtpExpiresAt',
  'smsOtpAttempts',
  'smsOtpSentAt',
  'failedLoginAttempts',
  'lockedUntil',
  'refreshTokens',
  'provenEmail',
  'provenPhone',
  'pendingEmail',
  'verifyOtpHash',
  'verifyOtpExpiresAt',
  'verifyOtpAttempts',
  'verifyOtpSentAt',
  'disabled',
] as const

/** A default stored name. */
export type StoredName = (typeof NAMES)[number]

/** The stored name of each default name. */
export type StoredNames = Readonly<Record<StoredName, string>>

/** The fields that stand in no response and that no client writes. */
export const SECRETS: readonly StoredName[] = [
  'password',
  'passwordChangedAt',
  'otpHash',
  'otpPurpose',
  'otpExpiresAt',
  'otpAttempts',
  'otpSentAt',
  'smsOtpHash',
  'smsOtpExpiresAt',
  'smsOtpAttempts',
  'smsOtpSentAt',
  'failedLoginAttempts',
  'lockedUntil',
  'refreshTokens',
  'provenEmail',
  'provenPhone',
  'pendingEmail',
  'verifyOtpHash',
  'verifyOtpExpiresAt',
  'verifyOtpAttempts',
  'verifyOtpSentAt',
]

/** The providers' ids of an account: no client writes them, whether the provider is enabled yet or not. */
export const PROVIDER_IDS: readonly StoredName[] = ['googleId', 'appleId', 'facebookId', 'githubId']

/** The stored names, with `fields` renaming some. */
export function storedNames(
  fields: { readonly [Name in StoredName]?: string | undefined } = {},
): StoredNames {
  const entries = NAMES.map((name) => [name, fields[name] ?? name])
  return Object.freeze(Object.fromEntries(entries)) as StoredNames
}

/** Whether `name` is a default stored name. */
export function isStoredName(name: string): name is StoredName {
  return (NAMES as readonly string[]).includes(name)
}
