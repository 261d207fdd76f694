/** Every error message of the guards. */

import { type HttpError, refusal } from '../http/errors/errors.ts'

// API keys
const unauthorized = (code: string, message: string, header: string): HttpError =>
  refusal(code, 401, message, { headers: { 'WWW-Authenticate': `ApiKey header="${header}"` } })
export const apiKeyRequired = (header: string): HttpError =>
  unauthorized('api-key-required', 'API key required.', header)
export const invalidApiKey = (header: string): HttpError =>
  unauthorized('invalid-api-key', 'Invalid API key.', header)

// Rate limits; `seconds` until the client may send its next request
export const tooManyRequests = (seconds: number): HttpError =>
  refusal('too-many-requests', 429, 'Too many requests. Try again later.', {
    headers: { 'Retry-After': String(seconds) },
  })

// Idempotency
export const keyRequired = (): HttpError =>
  refusal('key-required', 400, 'An Idempotency-Key is required.')
export const malformedKey = (): HttpError =>
  refusal('malformed-key', 400, 'The Idempotency-Key must be a string of 1 to 255 characters.')
export const keyInUse = (): HttpError =>
  refusal(
    'key-in-use',
    409,
    'A request with this Idempotency-Key is in progress, or ended without a known result.',
    { headers: { 'Retry-After': '1' } },
  )
export const keyReused = (): HttpError =>
  refusal('key-reused', 422, 'This Idempotency-Key was used for another request.')
