/**
 * Every error message of the authentication API. Statuses and texts are fixed by the contract.
 *
 * @module
 */

import { badRequest, HttpError } from '../http/errors.ts'

const unauthorized = (message: string, cause?: unknown): HttpError =>
  new HttpError(401, message, { headers: { 'WWW-Authenticate': 'Bearer' }, cause })
const unavailable = (message: string, seconds: number): HttpError =>
  new HttpError(503, message, { headers: { 'Retry-After': String(seconds) } })
const forbidden = (message: string): HttpError => new HttpError(403, message)
const conflict = (message: string): HttpError => new HttpError(409, message)

// Guards
export const authenticationRequired = (): HttpError => unauthorized('Authentication required.')
export const invalidToken = (): HttpError => unauthorized('Invalid or expired token.')
export const sessionEnded = (): HttpError => unauthorized('Session ended. Sign in again.')
export const notActive = (): HttpError => forbidden('This account is not active.')
export const noAccess = (): HttpError => forbidden('You do not have access to this resource.')

// Credentials
export const invalidFormat = (): HttpError => badRequest('Invalid credentials format.')
export const identifierNeeded = (names: readonly string[]): HttpError =>
  badRequest(`Provide one of: ${names.join(', ')}.`)
export const identifierRequired = (): HttpError => badRequest('An identifier is required.')
export const passwordRequired = (): HttpError => badRequest('A password is required.')
export const passwordTooShort = (least: number): HttpError =>
  badRequest(`Password must be at least ${least} characters.`)
export const passwordTooLong = (most: number): HttpError =>
  badRequest(`Password must be at most ${most} bytes.`)
export const passwordTooCommon = (): HttpError => badRequest('Password is too common.')
export const passwordTooPersonal = (): HttpError =>
  badRequest('Password must not be built from your own details.')
export const passwordRejected = (message: string): HttpError =>
  new HttpError(400, message, { code: 'password-rejected' })
export const accountExists = (): HttpError =>
  conflict('An account with those details already exists.')
export const invalidCredentials = (): HttpError => unauthorized('Invalid credentials.')
export const currentPasswordIncorrect = (): HttpError =>
  unauthorized('Current password is incorrect.')
export const currentPasswordRequired = (): HttpError => forbidden('Current password required.')
export const recentSignInRequired = (): HttpError => forbidden('Sign in again to do this.')
export const tooManyAttempts = (seconds: number): HttpError =>
  new HttpError(429, 'Too many failed attempts. Try again later.', {
    headers: { 'Retry-After': String(seconds) },
  })

export const invalidTicket = (): HttpError => unauthorized('This sign-in has expired. Start again.')
export const emailNotConfirmed = (): HttpError => forbidden('Confirm your email address first.')

// Second factors
export const factorNeeded = (): HttpError => forbidden('Set up a second factor.')
export const secondFactorNeeded = (): HttpError => forbidden('Sign in with a second factor.')
export const lastFactor = (): HttpError =>
  conflict('Your role needs a second factor. Set up another one first.')
export const lastWayIn = (): HttpError => conflict('This is the last way into the account.')

// Sessions
export const invalidRefreshToken = (): HttpError =>
  unauthorized('Invalid or expired refresh token.')
export const sessionInUse = (): HttpError =>
  unavailable('The session is in use. Try again shortly.', 1)

// One-time codes
export const unknownChannel = (): HttpError => badRequest("'channel' must be 'email' or 'sms'.")
export const noSuchChannel = (channel: string): HttpError =>
  badRequest(`Codes cannot be sent by ${channel} here.`)
export const invalidCode = (): HttpError => badRequest('That code is invalid or has expired.')
export const notSent = (seconds: number): HttpError =>
  unavailable('Could not send the code. Try again shortly.', seconds)

// Users and roles
export const ownAccountOnly = (): HttpError => forbidden('You may only update your own account.')
export const roleRequired = (): HttpError => badRequest('A role is required.')
export const unknownRole = (role: string, allowed: readonly string[]): HttpError =>
  badRequest(`Unknown role: ${role}. Allowed: ${allowed.join(', ')}.`)
export const oneRoleOnly = (): HttpError => badRequest('This model holds one role per user.')
export const ownAdminRole = (): HttpError => badRequest('You cannot remove your own admin role.')
export const lastAdmin = (): HttpError => badRequest('At least one admin must remain.')
export const adminNeeded = (): HttpError => conflict('At least one admin must remain.')

// Social sign-in
export const providerNotEnabled = (name: string): HttpError =>
  new HttpError(404, `Sign-in with '${name}' is not enabled.`)
export const providerCredentialNeeded = (names: readonly string[]): HttpError =>
  badRequest(`Provide ${names.map((name) => `'${name}'`).join(' or ')}.`)
export const providerRefused = (cause?: unknown): HttpError =>
  unauthorized('The provider did not accept this sign-in.', cause)
export const providerUnreachable = (cause?: unknown): HttpError =>
  new HttpError(503, 'Could not reach the identity provider.', {
    headers: { 'Retry-After': '5' },
    cause,
  })
