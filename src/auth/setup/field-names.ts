/**
 * The names under which a user's record stores things (spec 2.4); each can be renamed.
 *
 * @module
 */

/** The fields that no response contains and no client writes. */
export const SECRETS = [
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
  'wrongPasswords',
  'knownClients',
  'knownTries',
  'answerAttempts',
  'answersLockedUntil',
  'refreshTokens',
  'provenEmail',
  'provenPhone',
  'pendingEmail',
  'verifyOtpHash',
  'verifyOtpExpiresAt',
  'verifyOtpAttempts',
  'verifyOtpSentAt',
] as const

/** The providers' ids of an account: no client writes them, whether the provider is enabled or not. */
export const PROVIDER_IDS = ['googleId', 'appleId', 'facebookId', 'githubId'] as const

const OTHERS = ['email', 'phone', 'name', 'role', 'disabled'] as const

/** A default stored name. */
export type StoredName = (typeof OTHERS | typeof PROVIDER_IDS | typeof SECRETS)[number]

const NAMES: readonly StoredName[] = [...OTHERS, ...PROVIDER_IDS, ...SECRETS]

/** The stored name for each default name. */
export type StoredNames = Readonly<Record<StoredName, string>>

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
