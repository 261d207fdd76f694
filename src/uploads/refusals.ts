/** Every error message of uploads. Statuses and texts are fixed by the contract (spec 4.3, answers). */

import { type HttpError, refusal } from '../http/errors/errors.ts'

const limit = (code: string, what: string, cause?: unknown): HttpError =>
  refusal(code, 400, `File upload error: ${what}`, { cause })

export const fileTooLarge = (): HttpError => limit('file-too-large', 'File too large')
export const tooManyFiles = (): HttpError => limit('too-many-files', 'Too many files')
export const unexpectedFile = (): HttpError => limit('unexpected-file', 'Unexpected file field')
export const fieldTooLong = (): HttpError => limit('field-too-long', 'Field value too long')
export const tooManyFields = (): HttpError => limit('too-many-fields', 'Too many fields')
export const malformedMultipart = (cause?: unknown): HttpError =>
  limit('malformed-multipart', 'Malformed multipart body', cause)
export const imageTooLarge = (): HttpError => limit('image-too-large', 'Image has too many pixels')
export const unrecognisedType = (field: string): HttpError =>
  refusal('unrecognised-type', 400, `Unsupported or unrecognised file type for '${field}'.`)
export const typeNotAllowed = (mime: string): HttpError =>
  refusal('type-not-allowed', 400, `File type '${mime}' is not allowed.`)

export const storageNotConfigured = (): HttpError =>
  refusal('storage-not-configured', 503, 'S3 service is not properly configured on the server.')
export const storageUnavailable = (cause: unknown): HttpError =>
  refusal('storage-unavailable', 503, 'File storage is unavailable.', {
    headers: { 'Retry-After': '5' },
    cause,
  })

export const fileForbidden = (): HttpError =>
  refusal('file-forbidden', 403, 'You do not have access to this file.')
export const rangeNotSatisfiable = (size: number): HttpError =>
  refusal('range-not-satisfiable', 416, 'The requested range lies outside of the file.', {
    headers: { 'Content-Range': `bytes */${size}` },
  })
export const fileChanged = (): HttpError =>
  refusal('file-changed', 412, 'The file is another one than the request names.')
