/** Every error message of the record API. Statuses and texts are fixed by the contract. */

import { echoed } from '../ports/messages.ts'
import { badRequest, HttpError, ValidationError } from './errors.ts'

export const notFound = (): HttpError => new HttpError(404, 'Not found.')
export const methodNotAllowed = (allow: string): HttpError =>
  new HttpError(405, 'Method not allowed.', { headers: { Allow: allow } })

export const badHost = (): HttpError => badRequest('The Host header must be a host and a port.')

// Ids and records
export const invalidId = (): HttpError => badRequest('Invalid ID format.')
export const entryNotFound = (): HttpError => new HttpError(404, 'Entry not found.')
export const recordChanged = (): HttpError =>
  new HttpError(412, 'The record has changed since it was read.')
export const notAChange = (): HttpError =>
  badRequest("'changeId' must be the id of a change of this record.")
export const outsideScope = (): HttpError =>
  new HttpError(403, 'The entry would be outside of what you may write.')
export const changedMeanwhile = (): HttpError =>
  new HttpError(409, 'Another request changed the record at the same time. Try again.')
export const recordTooLarge = (): HttpError =>
  new HttpError(413, 'The record is too large for the database.')
export const invalidValue = (path: string): HttpError =>
  badRequest(`Invalid value for ${echoed(path)}.`)
/** Of a value that a hidden field takes part in. */
export const hiddenDuplicate = (): HttpError => new HttpError(409, 'Duplicate value.')
export const duplicate = (fields: readonly string[]): HttpError =>
  new HttpError(409, `Duplicate value for: ${fields.join(', ')}.`, {
    fields: Object.fromEntries(fields.map((field) => [field, 'Already exists.'])),
  })
/** Transitions: `from` and `to` as the sentence shows them; of a hidden field, what is stored is not told. */
export const forbiddenTransition = (
  field: string,
  from: string | undefined,
  to: string,
): HttpError =>
  new HttpError(
    409,
    `'${field}' cannot change${from === undefined ? '' : ` from ${echoed(from)}`} to ${echoed(to)}.`,
  )
/** Exclusions: `fields` are those of the range. */
export const overlapping = (fields: readonly string[]): HttpError =>
  new HttpError(409, 'Overlaps an existing entry.', {
    ...(fields.length > 0 && {
      fields: Object.fromEntries(fields.map((field) => [field, 'Overlaps an existing entry.'])),
    }),
  })
/** Enforced references: `paths` are the fields whose ids do not exist. */
export const noSuchReferences = (paths: readonly string[]): ValidationError =>
  new ValidationError(
    `Invalid value for ${paths.join(', ')}.`,
    Object.fromEntries(paths.map((path) => [path, 'Does not exist.'])),
  )
export const tooManyReferences = (most: number): HttpError =>
  badRequest(`The entry refers to more than ${most} entries.`)
export const stillReferenced = (model: string): HttpError =>
  new HttpError(409, `Entry is still referenced by ${model}.`)
/** By a foreign key of the database's own. */
export const referencedElsewhere = (): HttpError => new HttpError(409, 'Entry is still referenced.')
export const tooManyDependents = (most: number): HttpError =>
  new HttpError(409, `More than ${most} entries depend on this entry.`)

// Bodies
export const bodyTooLarge = (limit: number): HttpError =>
  new HttpError(413, `Request body exceeds the limit of ${limit} bytes.`)
export const tooManyBodyValues = (limit: number): HttpError =>
  new HttpError(413, `Request body exceeds the limit of ${limit} values.`)
export const bodyCutOff = (cause: unknown): HttpError =>
  new HttpError(400, 'Request body ended before it was complete.', { cause })
/** Closes the connection; otherwise the rest of the body would still arrive on it. */
export const bodyTooSlow = (): HttpError =>
  new HttpError(408, 'Request body took too long to arrive.', { headers: { Connection: 'close' } })
export const invalidJson = (): HttpError => badRequest('Request body is not valid JSON.')
export const invalidForm = (cause: unknown): HttpError =>
  new HttpError(400, 'Request body is not a valid form.', { cause })
export const unsupportedBody = (expected: string): HttpError =>
  new HttpError(415, `Request body must be sent as ${expected}.`)
export const unsupportedEncoding = (): HttpError =>
  new HttpError(415, 'Request body must be sent without a Content-Encoding.')
export const nothingWritable = (): HttpError =>
  badRequest('Request body contains no writable fields.')
export const nestedTooDeeply = (field: string): HttpError =>
  badRequest(`Field '${echoed(field)}' is nested too deeply.`)
export const unsafeKey = (field: string, key: string): HttpError =>
  badRequest(`Field '${echoed(field)}' cannot hold the key '${echoed(key)}'.`)
export const invalidFields = (fields: Readonly<Record<string, string>>): ValidationError =>
  new ValidationError('Check the submitted values.', fields)

// Lists
export const invalidFilter = (field: string): HttpError =>
  badRequest(`Invalid value for filter '${echoed(field)}'.`)
export const tooManyValues = (field: string, most: number): HttpError =>
  badRequest(`Filter '${echoed(field)}' exceeds ${most} values.`)
export const notFilterable = (field: string): HttpError =>
  badRequest(`Field '${echoed(field)}' is not filterable.`)
export const fieldNotSingle = (parameter: string): HttpError =>
  badRequest(`'${parameter}' must be a single field name.`)
export const notSortable = (field: string): HttpError =>
  badRequest(`Field '${echoed(field)}' is not sortable.`)
export const sortNotSingle = (): HttpError => badRequest('Sort must be a single field name.')
export const invalidRange = (): HttpError => badRequest('Invalid range.')
export const invalidCompareValue = (): HttpError => badRequest('Invalid compareValue.')
export const unknownCompareOperator = (operator: string): HttpError =>
  badRequest(`Unknown compareOperator '${echoed(operator)}'.`)
export const searchNotString = (): HttpError => badRequest('Search term must be a string.')
export const searchTooLong = (most: number): HttpError =>
  badRequest(`Search term exceeds ${most} characters.`)
export const searchPatternInvalid = (): HttpError =>
  badRequest('Search term is not a valid regular expression.')
/** By a database with a limit on the length of its statements, whatever makes one long. */
export const queryTooLong = (): HttpError =>
  badRequest('The request is too long for the database. Send fewer conditions or fields.')

// Responses
export const responseTooLarge = (): HttpError =>
  new HttpError(413, 'Response is too large. Ask for fewer records.')

// Pages
export const usesCursors = (): HttpError =>
  badRequest(
    "This endpoint paginates by cursor. Omit 'page' for the first page, then follow 'pagination.nextCursor'.",
  )
export const usesPages = (): HttpError =>
  badRequest("This endpoint paginates by page. Use 'page' and 'pageSize'.")
export const pageTooDeep = (page: number, most: number): HttpError =>
  badRequest(
    `Page ${page} is beyond the maximum of ${most}. Narrow the filter, or page with a cursor instead.`,
  )
export const invalidCursor = (): HttpError => badRequest('Cursor is not a valid pagination token.')
export const cursorOfOtherSort = (): HttpError =>
  badRequest('Cursor was issued for a different sort order.')
export const cursorAnchorGone = (): HttpError =>
  badRequest('The record this cursor points at no longer exists. Start the scan again.')

// QUERY bodies
export const queryNotJson = (): HttpError =>
  new HttpError(415, 'QUERY body must be sent as application/json.', {
    headers: { 'Accept-Query': 'application/json' },
  })
export const queryNotObject = (): HttpError => badRequest('QUERY body must be a JSON object.')
export const unknownQueryKey = (key: string, allowed: readonly string[]): HttpError =>
  badRequest(`Unknown key '${echoed(key)}' in QUERY body. Allowed: ${allowed.join(', ')}.`)
export const notPositiveInteger = (key: string): HttpError =>
  badRequest(`'${key}' must be a positive integer.`)
export const limitAndPage = (): HttpError =>
  badRequest("Use either 'limit' or 'page'/'pageSize', not both.")
export const limitOnCursorServer = (): HttpError =>
  badRequest("This endpoint paginates by cursor. Use 'pageSize' instead of 'limit'.")
export const filterNotObject = (): HttpError => badRequest("'filter' must be a JSON object.")
export const notAlternatives = (): HttpError =>
  badRequest("'or' must be a list of 2 to 20 filters.")
export const notSelectable = (field: string): HttpError =>
  badRequest(`Field '${echoed(field)}' cannot be selected.`)
export const notExpandable = (field: string): HttpError =>
  badRequest(`Field '${echoed(field)}' cannot be expanded.`)
export const notNames = (parameter: string, most: number): HttpError =>
  badRequest(`'${parameter}' must be a list of 1 to ${most} field names.`)
export const notExported = (): HttpError =>
  new HttpError(406, 'This list is not available as a file. Use Accept: application/json.')
export const exportHasNoPages = (): HttpError =>
  badRequest('A file has the whole list: leave out page, pageSize, limit and cursor.')
export const exportTooLarge = (most: number): HttpError =>
  new HttpError(413, `The list has more than ${most} records. Narrow it with filters.`)
export const notLive = (): HttpError =>
  new HttpError(406, 'This list cannot be followed. Use Accept: application/json.')
export const liveHasNoPages = (): HttpError =>
  badRequest('A live list has no pages: leave out page, pageSize, limit and cursor.')
export const liveHasNoSelect = (): HttpError =>
  badRequest("A live list has whole records: leave out 'select'.")
export const liveHasNoGroups = (): HttpError =>
  badRequest("A live list has records: leave out 'aggregate' and 'by'.")
export const liveSearchThroughReference = (): HttpError =>
  badRequest('A live list cannot search through references.')
export const tooManyStreams = (): HttpError =>
  new HttpError(503, 'Too many live lists are open. Try again later.', {
    headers: { 'Retry-After': '5' },
  })
export const liveEnded = (): HttpError =>
  new HttpError(503, 'The live list was closed. Open it again.')
export const filterEmpty = (field: string): HttpError =>
  badRequest(`Filter '${echoed(field)}' has no conditions.`)
export const unknownOperator = (
  operator: string,
  field: string,
  allowed: readonly string[],
): HttpError =>
  badRequest(
    `Unknown operator '${echoed(operator)}' on '${echoed(field)}'. Allowed: ${allowed.join(', ')}.`,
  )
export const operand = (operator: string, field: string, complaint: string): HttpError =>
  badRequest(`Operator '${echoed(operator)}' on '${echoed(field)}' ${complaint}.`)
export const sortNotList = (): HttpError =>
  badRequest("'sort' must be a field name, or a list of them.")
export const sortTooLong = (most: number): HttpError =>
  badRequest(`'sort' accepts at most ${most} fields.`)
export const notAggregatable = (field: string): HttpError =>
  badRequest(`Field '${echoed(field)}' cannot be aggregated.`)
export const notGroupable = (field: string): HttpError =>
  badRequest(`Field '${echoed(field)}' cannot be grouped by.`)
export const aggregateOnDate = (field: string): HttpError =>
  badRequest(`Field '${echoed(field)}' is a date, which has only 'min' and 'max'.`)
export const aggregateNotObject = (): HttpError => badRequest("'aggregate' must be a JSON object.")
export const aggregateEmpty = (): HttpError =>
  badRequest("'aggregate' must ask for 'count', 'sum', 'avg', 'min' or 'max'.")
export const unknownMeasure = (key: string, allowed: readonly string[]): HttpError =>
  badRequest(`Unknown key '${echoed(key)}' in 'aggregate'. Allowed: ${allowed.join(', ')}.`)
export const countNotBoolean = (): HttpError =>
  badRequest("'aggregate.count' must be true or false.")
export const measuredNotList = (measure: string): HttpError =>
  badRequest(`'aggregate.${measure}' must be a list of field names.`)
export const groupsNotList = (most: number): HttpError =>
  badRequest(`'by' must be a list of at most ${most} fields.`)
export const groupsAlone = (): HttpError => badRequest("'by' needs 'aggregate'.")
export const aggregateExcludes = (key: string): HttpError =>
  badRequest(`Use either 'aggregate' or '${key}', not both.`)
export const cursorNotString = (): HttpError => badRequest("'cursor' must be a string.")
