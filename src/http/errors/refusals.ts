/** Every error message of the record API. Statuses and texts are fixed by the contract. */

import {
  badRequest,
  coded,
  type HttpError,
  refusal,
  said,
  theirs,
  unsent,
  untold,
  ValidationError,
} from './errors.ts'

export const notFound = (): HttpError => refusal('not-found', 404, 'Not found.')
export const methodNotAllowed = (allow: string): HttpError =>
  refusal('method-not-allowed', 405, 'Method not allowed.', { headers: { Allow: allow } })

export const badHost = (): HttpError =>
  badRequest('bad-host', 'The Host header must be a host and a port.')

// Ids and records
export const invalidId = (): HttpError => badRequest('invalid-id', 'Invalid ID format.')
export const entryNotFound = (): HttpError => refusal('entry-not-found', 404, 'Entry not found.')
export const recordChanged = (): HttpError =>
  refusal('record-changed', 412, 'The record has changed since it was read.')
export const excludedVersion = (): HttpError =>
  refusal('excluded-version', 412, 'If-None-Match names the version that the record has.')
export const notAChange = (): HttpError =>
  badRequest('not-a-change', "'changeId' must be the id of a change of this record.")
export const outsideScope = (): HttpError =>
  refusal('outside-scope', 403, 'The entry would be outside of what you may write.')
export const changedMeanwhile = (): HttpError =>
  refusal(
    'changed-meanwhile',
    409,
    'Another request changed the record at the same time. Try again.',
  )
export const recordTooLarge = (): HttpError =>
  refusal('record-too-large', 413, 'The record is too large for the database.')
export const invalidValue = (path: string): HttpError =>
  badRequest('invalid-value', said`Invalid value for ${theirs(path)}.`)
/** Of a value that a hidden field takes part in. */
export const hiddenDuplicate = (): HttpError => refusal('hidden-duplicate', 409, 'Duplicate value.')
export const duplicate = (fields: readonly string[]): HttpError =>
  refusal('duplicate', 409, `Duplicate value for: ${fields.join(', ')}.`, {
    fields: Object.fromEntries(fields.map((field) => [field, 'Already exists.'])),
  })
/** Transitions: `from` and `to` as the sentence shows them; of a hidden field, what is stored is not told. */
export const forbiddenTransition = (
  field: string,
  from: string | undefined,
  to?: string,
): HttpError => {
  const end = to === undefined ? 'what it was' : theirs(to)
  const sentence =
    from === undefined
      ? said`'${field}' cannot change to ${end}.`
      : said`'${field}' cannot change from ${theirs(from)} to ${end}.`
  const error = refusal('forbidden-transition', 409, sentence)
  if (from !== undefined) untold.set(error, [field, forbiddenTransition(field, undefined, to)])
  else if (to !== undefined) unsent.set(error, forbiddenTransition(field, undefined))
  return error
}
/** Exclusions: `fields` are those of the range. */
export const overlapping = (fields: readonly string[]): HttpError =>
  refusal('overlapping', 409, 'Overlaps an existing entry.', {
    ...(fields.length > 0 && {
      fields: Object.fromEntries(fields.map((field) => [field, 'Overlaps an existing entry.'])),
    }),
  })
/** Enforced references: `paths` are the fields whose ids do not exist. */
export const noSuchReferences = (paths: readonly string[]): ValidationError =>
  coded(
    'invalid-value',
    new ValidationError(
      `Invalid value for ${paths.join(', ')}.`,
      Object.fromEntries(paths.map((path) => [path, 'Does not exist.'])),
    ),
  )
export const tooManyReferences = (most: number): HttpError =>
  badRequest('too-many-references', `The entry refers to more than ${most} entries.`)
export const stillReferenced = (model: string): HttpError =>
  refusal('still-referenced', 409, `Entry is still referenced by ${model}.`)
/** By a foreign key of the database's own. */
export const referencedElsewhere = (): HttpError =>
  refusal('referenced-elsewhere', 409, 'Entry is still referenced.')
export const tooManyDependents = (most: number): HttpError =>
  refusal('too-many-dependents', 409, `More than ${most} entries depend on this entry.`)

// Bodies
export const bodyTooLarge = (limit: number): HttpError =>
  refusal('body-too-large', 413, `Request body exceeds the limit of ${limit} bytes.`)
export const tooManyBodyValues = (limit: number): HttpError =>
  refusal('too-many-body-values', 413, `Request body exceeds the limit of ${limit} values.`)
export const bodyCutOff = (cause: unknown): HttpError =>
  refusal('body-cut-off', 400, 'Request body ended before it was complete.', { cause })
/** Closes the connection; otherwise the rest of the body would still arrive on it. */
export const bodyTooSlow = (): HttpError =>
  refusal('body-too-slow', 408, 'Request body took too long to arrive.', {
    headers: { Connection: 'close' },
  })
export const invalidJson = (): HttpError =>
  badRequest('invalid-json', 'Request body is not valid JSON.')
export const invalidForm = (cause: unknown): HttpError =>
  refusal('invalid-form', 400, 'Request body is not a valid form.', { cause })
export const unsupportedBody = (expected: string): HttpError =>
  refusal('unsupported-body', 415, `Request body must be sent as ${expected}.`)
export const unsupportedEncoding = (): HttpError =>
  refusal('unsupported-encoding', 415, 'Request body must be sent without a Content-Encoding.')
export const nothingWritable = (): HttpError =>
  badRequest('nothing-writable', 'Request body contains no writable fields.')
export const nestedTooDeeply = (field: string): HttpError =>
  badRequest('nested-too-deeply', said`Field '${theirs(field)}' is nested too deeply.`)
export const unsafeKey = (field: string, key: string): HttpError =>
  badRequest('unsafe-key', said`Field '${theirs(field)}' cannot hold the key '${theirs(key)}'.`)
export const invalidFields = (fields: Readonly<Record<string, string>>): ValidationError =>
  new ValidationError('Check the submitted values.', fields)

// Lists
export const invalidFilter = (field: string): HttpError =>
  badRequest('invalid-filter', said`Invalid value for filter '${theirs(field)}'.`)
export const tooManyValues = (field: string, most: number): HttpError =>
  badRequest('too-many-values', said`Filter '${theirs(field)}' exceeds ${most} values.`)
export const notFilterable = (field: string): HttpError =>
  badRequest('not-filterable', said`Field '${theirs(field)}' is not filterable.`)
export const fieldNotSingle = (parameter: string): HttpError =>
  badRequest('field-not-single', `'${parameter}' must be a single field name.`)
export const notSortable = (field: string): HttpError =>
  badRequest('not-sortable', said`Field '${theirs(field)}' is not sortable.`)
export const sortNotSingle = (): HttpError =>
  badRequest('sort-not-single', 'Sort must be a single field name.')
export const invalidRange = (): HttpError => badRequest('invalid-range', 'Invalid range.')
export const invalidCompareValue = (): HttpError =>
  badRequest('invalid-compare-value', 'Invalid compareValue.')
export const unknownCompareOperator = (operator: string): HttpError =>
  badRequest('unknown-compare-operator', said`Unknown compareOperator '${theirs(operator)}'.`)
export const searchNotString = (): HttpError =>
  badRequest('search-not-string', 'Search term must be a string.')
export const searchTooLong = (most: number): HttpError =>
  badRequest('search-too-long', `Search term exceeds ${most} characters.`)
export const searchPatternInvalid = (): HttpError =>
  badRequest('search-pattern-invalid', 'Search term is not a valid regular expression.')
/** By a database with a limit on the length of its statements, whatever makes one long. */
export const queryTooLong = (): HttpError =>
  badRequest(
    'query-too-long',
    'The request is too long for the database. Send fewer conditions or fields.',
  )

// Responses
export const responseTooLarge = (): HttpError =>
  refusal('response-too-large', 413, 'Response is too large. Ask for fewer records.')

// Pages
export const usesCursors = (): HttpError =>
  badRequest(
    'uses-cursors',
    "This endpoint paginates by cursor. Omit 'page' for the first page, then follow 'pagination.nextCursor'.",
  )
export const usesPages = (): HttpError =>
  badRequest('uses-pages', "This endpoint paginates by page. Use 'page' and 'pageSize'.")
export const pageTooDeep = (page: number, most: number): HttpError =>
  badRequest(
    'page-too-deep',
    `Page ${page} is beyond the maximum of ${most}. Narrow the filter, or page with a cursor instead.`,
  )
export const invalidCursor = (): HttpError =>
  badRequest('invalid-cursor', 'Cursor is not a valid pagination token.')
export const cursorOfOtherSort = (): HttpError =>
  badRequest('cursor-of-other-sort', 'Cursor was issued for a different sort order.')
export const cursorAnchorGone = (): HttpError =>
  badRequest(
    'cursor-anchor-gone',
    'The record this cursor points at no longer exists. Start the scan again.',
  )

// QUERY bodies
export const queryNotJson = (): HttpError =>
  refusal('query-not-json', 415, 'QUERY body must be sent as application/json.', {
    headers: { 'Accept-Query': 'application/json' },
  })
export const queryNotObject = (): HttpError =>
  badRequest('query-not-object', 'QUERY body must be a JSON object.')
export const unknownQueryKey = (key: string, allowed: readonly string[]): HttpError =>
  badRequest(
    'unknown-query-key',
    said`Unknown key '${theirs(key)}' in QUERY body. Allowed: ${allowed.join(', ')}.`,
  )
export const notPositiveInteger = (key: string): HttpError =>
  badRequest('not-positive-integer', `'${key}' must be a positive integer.`)
export const limitAndPage = (): HttpError =>
  badRequest('limit-and-page', "Use either 'limit' or 'page'/'pageSize', not both.")
export const limitOnCursorServer = (): HttpError =>
  badRequest(
    'limit-on-cursor-server',
    "This endpoint paginates by cursor. Use 'pageSize' instead of 'limit'.",
  )
export const filterNotObject = (): HttpError =>
  badRequest('filter-not-object', "'filter' must be a JSON object.")
export const notAlternatives = (): HttpError =>
  badRequest('not-alternatives', "'or' must be a list of 2 to 20 filters.")
export const notSelectable = (field: string): HttpError =>
  badRequest('not-selectable', said`Field '${theirs(field)}' cannot be selected.`)
export const notExpandable = (field: string): HttpError =>
  badRequest('not-expandable', said`Field '${theirs(field)}' cannot be expanded.`)
export const notNames = (parameter: string, most: number): HttpError =>
  badRequest('not-names', `'${parameter}' must be a list of 1 to ${most} field names.`)
export const notExported = (): HttpError =>
  refusal(
    'not-exported',
    406,
    'This list is not available as a file. Use Accept: application/json.',
  )
export const exportHasNoPages = (): HttpError =>
  badRequest(
    'export-has-no-pages',
    'A file has the whole list: leave out page, pageSize, limit and cursor.',
  )
export const exportTooLarge = (most: number): HttpError =>
  refusal(
    'export-too-large',
    413,
    `The list has more than ${most} records. Narrow it with filters.`,
  )
export const notLive = (): HttpError =>
  refusal('not-live', 406, 'This list cannot be followed. Use Accept: application/json.')
export const liveHasNoPages = (): HttpError =>
  badRequest('live-pages', 'A live list has no pages: leave out page, pageSize, limit and cursor.')
export const liveHasNoSelect = (): HttpError =>
  badRequest('live-select', "A live list has whole records: leave out 'select'.")
export const liveHasNoGroups = (): HttpError =>
  badRequest('live-groups', "A live list has records: leave out 'aggregate' and 'by'.")
export const liveSearchThroughReference = (): HttpError =>
  badRequest('live-search', 'A live list cannot search through references.')
export const tooManyStreams = (): HttpError =>
  refusal('too-many-live-lists', 503, 'Too many live lists are open. Try again later.', {
    headers: { 'Retry-After': '5' },
  })
export const liveEnded = (): HttpError =>
  refusal('live-list-closed', 503, 'The live list was closed. Open it again.')
export const filterEmpty = (field: string): HttpError =>
  badRequest('filter-empty', said`Filter '${theirs(field)}' has no conditions.`)
export const unknownOperator = (
  operator: string,
  field: string,
  allowed: readonly string[],
): HttpError =>
  badRequest(
    'unknown-operator',
    said`Unknown operator '${theirs(operator)}' on '${theirs(field)}'. Allowed: ${allowed.join(', ')}.`,
  )
export const operand = (operator: string, field: string, complaint: string): HttpError =>
  badRequest('operand', said`Operator '${operator}' on '${theirs(field)}' ${complaint}.`)
export const sortNotList = (): HttpError =>
  badRequest('sort-not-list', "'sort' must be a field name, or a list of them.")
export const sortTooLong = (most: number): HttpError =>
  badRequest('sort-too-long', `'sort' accepts at most ${most} fields.`)
export const notAggregatable = (field: string): HttpError =>
  badRequest('not-aggregatable', said`Field '${theirs(field)}' cannot be aggregated.`)
export const notGroupable = (field: string): HttpError =>
  badRequest('not-groupable', said`Field '${theirs(field)}' cannot be grouped by.`)
export const aggregateOnDate = (field: string): HttpError =>
  badRequest(
    'aggregate-on-date',
    said`Field '${theirs(field)}' is a date, which has only 'min' and 'max'.`,
  )
export const aggregateNotObject = (): HttpError =>
  badRequest('aggregate-not-object', "'aggregate' must be a JSON object.")
export const aggregateEmpty = (): HttpError =>
  badRequest('aggregate-empty', "'aggregate' must ask for 'count', 'sum', 'avg', 'min' or 'max'.")
export const unknownMeasure = (key: string, allowed: readonly string[]): HttpError =>
  badRequest(
    'unknown-measure',
    said`Unknown key '${theirs(key)}' in 'aggregate'. Allowed: ${allowed.join(', ')}.`,
  )
export const countNotBoolean = (): HttpError =>
  badRequest('count-not-boolean', "'aggregate.count' must be true or false.")
export const measuredNotList = (measure: string): HttpError =>
  badRequest('measured-not-list', `'aggregate.${measure}' must be a list of field names.`)
export const groupsNotList = (most: number): HttpError =>
  badRequest('groups-not-list', `'by' must be a list of at most ${most} fields.`)
export const groupsAlone = (): HttpError => badRequest('groups-alone', "'by' needs 'aggregate'.")
export const aggregateExcludes = (key: string): HttpError =>
  badRequest('aggregate-excludes', `Use either 'aggregate' or '${key}', not both.`)
export const cursorNotString = (): HttpError =>
  badRequest('cursor-not-string', "'cursor' must be a string.")
