/** Every error message of the authentication API. Statuses and texts are fixed by the contract. */

import { badRequest, HttpError, refusal, said, theirs } from '../http/errors/errors.ts'

/** The most of a word of a client that a refusal repeats. */
const MAX_SHOWN_LENGTH = 64
const shown = (word: string) => theirs(word.slice(0, MAX_SHOWN_LENGTH))

const unauthorized = (code: string, message: string, cause?: unknown): HttpError =>
  refusal(code, 401, message, { headers: { 'WWW-Authenticate': 'Bearer' }, cause })
const unavailable = (code: string, message: string, seconds: number, cause?: unknown): HttpError =>
  refusal(code, 503, message, { headers: { 'Retry-After': String(seconds) }, cause })
const forbidden = (code: string, message: string): HttpError => refusal(code, 403, message)
const conflict = (code: string, message: string): HttpError => refusal(code, 409, message)

// Guards
export const authenticationRequired = (): HttpError =>
  unauthorized('authentication-required', 'Authentication required.')
export const invalidToken = (): HttpError =>
  unauthorized('invalid-token', 'Invalid or expired token.')
export const sessionEnded = (): HttpError =>
  unauthorized('session-ended', 'Session ended. Sign in again.')
export const notActive = (): HttpError => forbidden('not-active', 'This account is not active.')
export const noAccess = (): HttpError =>
  forbidden('no-access', 'You do not have access to this resource.')

// Credentials
export const invalidFormat = (): HttpError =>
  badRequest('invalid-format', 'Invalid credentials format.')
export const identifierNeeded = (names: readonly string[]): HttpError =>
  badRequest('identifier-needed', `Provide one of: ${names.join(', ')}.`)
export const identifierRequired = (): HttpError =>
  badRequest('identifier-required', 'An identifier is required.')
export const passwordRequired = (): HttpError =>
  badRequest('password-required', 'A password is required.')
export const passwordTooShort = (least: number): HttpError =>
  badRequest('password-too-short', `Password must be at least ${least} characters.`)
export const passwordTooLong = (most: number): HttpError =>
  badRequest('password-too-long', `Password must be at most ${most} bytes.`)
export const passwordTooCommon = (): HttpError =>
  badRequest('password-too-common', 'Password is too common.')
export const passwordTooPersonal = (): HttpError =>
  badRequest('password-too-personal', 'Password must not be built from your own details.')
export const passwordRejected = (message: string): HttpError =>
  new HttpError(400, message, { code: 'password-rejected' })
export const accountExists = (): HttpError =>
  conflict('account-exists', 'An account with those details already exists.')
export const invalidCredentials = (): HttpError =>
  unauthorized('invalid-credentials', 'Invalid credentials.')
export const currentPasswordIncorrect = (): HttpError =>
  unauthorized('current-password-incorrect', 'Current password is incorrect.')
export const currentPasswordRequired = (): HttpError =>
  forbidden('current-password-required', 'Current password required.')
export const recentSignInRequired = (): HttpError =>
  forbidden('recent-sign-in-required', 'Sign in again to do this.')
export const tooManyAttempts = (seconds: number): HttpError =>
  refusal('too-many-attempts', 429, 'Too many failed attempts. Try again later.', {
    headers: { 'Retry-After': String(seconds) },
  })

export const invalidTicket = (): HttpError =>
  unauthorized('invalid-ticket', 'This sign-in has expired. Start again.')
export const emailNotConfirmed = (): HttpError =>
  forbidden('email-not-confirmed', 'Confirm your email address first.')

// Second factors
export const factorNeeded = (): HttpError => forbidden('factor-needed', 'Set up a second factor.')
export const secondFactorNeeded = (): HttpError =>
  forbidden('second-factor-needed', 'Sign in with a second factor.')
export const lastFactor = (): HttpError =>
  conflict('last-factor', 'Your role needs a second factor. Set up another one first.')
export const lastWayIn = (): HttpError =>
  conflict('last-way-in', 'This is the last way into the account.')

// Sessions
export const invalidRefreshToken = (): HttpError =>
  unauthorized('invalid-refresh-token', 'Invalid or expired refresh token.')
export const sessionInUse = (): HttpError =>
  unavailable('session-in-use', 'The session is in use. Try again shortly.', 1)

// One-time codes
export const unknownChannel = (): HttpError =>
  badRequest('unknown-channel', "'channel' must be 'email' or 'sms'.")
export const noSuchChannel = (channel: string): HttpError =>
  badRequest('no-such-channel', `Codes cannot be sent by ${channel} here.`)
export const invalidCode = (): HttpError =>
  badRequest('invalid-code', 'That code is invalid or has expired.')
export const notSent = (seconds: number): HttpError =>
  unavailable('not-sent', 'Could not send the code. Try again shortly.', seconds)

// Users and roles
export const ownAccountOnly = (): HttpError =>
  forbidden('own-account-only', 'You may only update your own account.')
export const roleRequired = (): HttpError => badRequest('role-required', 'A role is required.')
export const unknownRole = (role: string, allowed: readonly string[]): HttpError =>
  badRequest('unknown-role', said`Unknown role: ${shown(role)}. Allowed: ${allowed.join(', ')}.`)
export const oneRoleOnly = (): HttpError =>
  badRequest('one-role-only', 'This model holds one role per user.')
export const ownAdminRole = (): HttpError =>
  badRequest('own-admin-role', 'You cannot remove your own admin role.')
export const lastAdmin = (): HttpError =>
  badRequest('last-admin', 'At least one admin must remain.')
export const adminNeeded = (): HttpError =>
  conflict('last-admin', 'At least one admin must remain.')

// Social sign-in
export const providerNotEnabled = (name: string): HttpError =>
  refusal('provider-not-enabled', 404, said`Sign-in with '${shown(name)}' is not enabled.`)
export const providerCredentialNeeded = (names: readonly string[]): HttpError =>
  badRequest(
    'provider-credential-needed',
    `Provide ${names.map((name) => `'${name}'`).join(' or ')}.`,
  )
export const providerRefused = (cause?: unknown): HttpError =>
  unauthorized('provider-refused', 'The provider did not accept this sign-in.', cause)
export const providerUnreachable = (cause?: unknown): HttpError =>
  unavailable('provider-unreachable', 'Could not reach the identity provider.', 5, cause)
