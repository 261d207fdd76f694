/** The names under which a user's record stores things; each can be renamed. */

/** The fields that no response contains and no client writes, and how each is stored. */
export const SECRET_KINDS = {
  password: 'string',
  passwordChangedAt: 'date',
  otpHash: 'string',
  otpPurpose: 'string',
  otpExpiresAt: 'date',
  otpAttempts: 'count',
  otpSentAt: 'date',
  smsOtpHash: 'string',
  smsOtpExpiresAt: 'date',
  smsOtpAttempts: 'number',
  smsOtpSentAt: 'date',
  failedLoginAttempts: 'count',
  lockedUntil: 'date',
  wrongPasswords: 'number',
  knownClients: 'clients',
  knownTries: 'tries',
  answerAttempts: 'number',
  answersLockedUntil: 'date',
  provenEmail: 'string',
  provenPhone: 'string',
  pendingEmail: 'string',
  takeovers: 'number',
  keysEndedAt: 'date',
  verifyOtpHash: 'string',
  verifyOtpExpiresAt: 'date',
  verifyOtpAttempts: 'number',
  verifyOtpSentAt: 'date',
  refreshTokens: 'sessions',
} as const

/** The default name of a field that no response contains. */
export type SecretName = keyof typeof SECRET_KINDS

export const SECRETS: readonly SecretName[] = Object.keys(SECRET_KINDS) as SecretName[]

/** The providers' ids of an account: no client writes them, whether the provider is enabled or not. */
export const PROVIDER_IDS = ['googleId', 'appleId', 'facebookId', 'githubId'] as const

const OTHERS = ['email', 'phone', 'name', 'role', 'disabled'] as const

/** A default stored name. */
export type StoredName = (typeof OTHERS | typeof PROVIDER_IDS)[number] | SecretName

const NAMES: readonly StoredName[] = [...OTHERS, ...PROVIDER_IDS, ...SECRETS]

/** The stored name for each default name. */
export type StoredNames = Readonly<Record<StoredName, string>>

interface NamingOptions {
  readonly fields?: { readonly [Name in StoredName]?: string | undefined } | undefined
  readonly roles?: { readonly field?: string | undefined } | undefined
}

/** The stored names by the options `fields` and `roles.field`. */
export function namesOf({ fields = {}, roles }: NamingOptions): StoredNames {
  const given = { ...fields, role: roles?.field ?? fields.role }
  return Object.freeze(
    Object.fromEntries(NAMES.map((name) => [name, given[name] ?? name])),
  ) as never
}

export function isStoredName(name: string): name is StoredName {
  return (NAMES as readonly string[]).includes(name)
}

/** The kinds of code that reset a password: by mail and by SMS. */
export const RESET_CODES = ['email', 'sms'] as const

/** All kinds of code: those, and the proof of a mailbox. */
export const CODE_KINDS = ['email', 'sms', 'verification'] as const

export type CodeKind = (typeof CODE_KINDS)[number]

/** What a kind of code is bound to besides its address. */
export const CODE_PURPOSES: Readonly<Record<CodeKind, string>> = {
  email: 'passwordReset:email',
  sms: 'passwordReset:sms',
  verification: 'emailVerification',
}

/** How the names of a kind's fields begin. Two kinds share nothing, so a request for one changes nothing of the other. */
const PREFIXES = { email: 'otp', sms: 'smsOtp', verification: 'verifyOtp' } as const

export type Slot = Readonly<Record<'hash' | 'expiresAt' | 'attempts' | 'sentAt', string>>

/** The default names of the fields of a kind of code. */
export function codeFields(
  kind: CodeKind,
): readonly [hash: SecretName, expiresAt: SecretName, attempts: SecretName, sentAt: SecretName] {
  const prefix = PREFIXES[kind]
  return [`${prefix}Hash`, `${prefix}ExpiresAt`, `${prefix}Attempts`, `${prefix}SentAt`]
}
