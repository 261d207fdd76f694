/** Every error message of the guards. */

import { HttpError } from '../http/errors.ts'

// API keys
const unauthorized = (message: string, header: string): HttpError =>
  new HttpError(401, message, { headers: { 'WWW-Authenticate': `ApiKey header="${header}"` } })
export const apiKeyRequired = (header: string): HttpError =>
  unauthorized('API key required.', header)
export const invalidApiKey = (header: string): HttpError => unauthorized('Invalid API key.', header)

// Rate limits; `seconds` until the client may send its next request
export const tooManyRequests = (seconds: number): HttpError =>
  new HttpError(429, 'Too many requests. Try again later.', {
    headers: { 'Retry-After': String(seconds) },
  })

// Idempotency
export const keyRequired = (): HttpError => new HttpError(400, 'An Idempotency-Key is required.')
export const malformedKey = (): HttpError =>
  new HttpError(400, 'The Idempotency-Key must be a string of 1 to 255 characters.')
export const keyInUse = (): HttpError =>
  new HttpError(
    409,
    'A request with this Idempotency-Key is in progress, or ended without a known result.',
    { headers: { 'Retry-After': '1' } },
  )
export const keyReused = (): HttpError =>
  new HttpError(422, 'This Idempotency-Key was used for another request.')
