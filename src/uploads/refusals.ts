/**
 * Every error message of uploads. Statuses and texts are fixed by the contract (spec 4.3, answers).
 */

import { HttpError } from '../http/errors.ts'

const limit = (what: string, cause?: unknown): HttpError =>
  new HttpError(400, `File upload error: ${what}`, { cause })

export const fileTooLarge = (): HttpError => limit('File too large')
export const tooManyFiles = (): HttpError => limit('Too many files')
export const unexpectedFile = (): HttpError => limit('Unexpected file field')
export const fieldTooLong = (): HttpError => limit('Field value too long')
export const tooManyFields = (): HttpError => limit('Too many fields')
export const malformedMultipart = (cause?: unknown): HttpError =>
  limit('Malformed multipart body', cause)
export const imageTooLarge = (): HttpError => limit('Image has too many pixels')
export const unrecognisedType = (field: string): HttpError =>
  new HttpError(400, `Unsupported or unrecognised file type for '${field}'.`)
export const typeNotAllowed = (mime: string): HttpError =>
  new HttpError(400, `File type '${mime}' is not allowed.`)

export const storageNotConfigured = (): HttpError =>
  new HttpError(503, 'S3 service is not properly configured on the server.')
export const storageUnavailable = (cause: unknown): HttpError =>
  new HttpError(503, 'File storage is unavailable.', { headers: { 'Retry-After': '5' }, cause })

export const fileForbidden = (): HttpError =>
  new HttpError(403, 'You do not have access to this file.')
export const rangeNotSatisfiable = (size: number): HttpError =>
  new HttpError(416, 'The requested range lies outside of the file.', {
    headers: { 'Content-Range': `bytes */${size}` },
  })
