/** Responses: failures from the very errors that are thrown, successes in the envelope. */

import { SecondStepRequired } from '../../auth/setup/options.ts'
import type { BodyLimits } from '../../http/body/body.ts'
import type { HttpError } from '../../http/errors/errors.ts'
import { unavailable } from '../../http/errors/outages.ts'
import * as refuse from '../../http/errors/refusals.ts'
import type {
  Header,
  Operation,
  Parameter,
  ResponseObject,
  Responses,
  Schema,
} from '../specification.ts'
import { refTo } from './named-schemas.ts'

/** The name of a header that is described. */
export type HeaderName =
  | 'X-Request-Id'
  | 'ETag'
  | 'Location'
  | 'Cache-Control'
  | 'Vary'
  | 'X-Cache'
  | 'Retry-After'
  | 'WWW-Authenticate'
  | 'Accept-Query'
  | 'Connection'
  | 'Change-Id'

/** The headers of responses, by name. */
export const HEADERS: Readonly<Record<HeaderName, Header>> = {
  'X-Request-Id': {
    description: 'Identifies the request in the logs of the server.',
    schema: { type: 'string' },
  },
  ETag: { description: 'The version of the body.', schema: { type: 'string' } },
  Location: { description: 'The path of the new record.', schema: { type: 'string' } },
  'Cache-Control': { description: 'What caches may keep.', schema: { type: 'string' } },
  Vary: {
    description: 'The headers of the request that the response depends on.',
    schema: { type: 'string' },
  },
  'X-Cache': {
    description:
      'Whether the response came from the cache. Absent while the cache cannot be reached.',
    schema: { type: 'string', enum: ['HIT', 'MISS'] },
  },
  'Retry-After': {
    description: 'Seconds until another try makes sense.',
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { description: 'The scheme to sign in with.', schema: { type: 'string' } },
  'Accept-Query': {
    description: 'The media types that QUERY takes (RFC 10008).',
    schema: { type: 'string' },
  },
  Connection: { description: '`close`: the connection ends.', schema: { type: 'string' } },
  'Change-Id': {
    description:
      'The position of what was written in the log of changes. Absent if nothing changed.',
    schema: { type: 'string' },
  },
}

/** The failures of a request with a JSON body; the limits are those of the app. */
export function bodyRefusals(limits: BodyLimits, expected = 'application/json'): HttpError[] {
  return [
    refuse.bodyTooLarge(limits.maxBodySize),
    refuse.tooManyBodyValues(limits.maxBodyValues),
    refuse.bodyTooSlow(),
    refuse.bodyCutOff(undefined),
    refuse.invalidJson(),
    refuse.unsupportedBody(expected),
    refuse.unsupportedEncoding(),
  ]
}

const FAILURE = {
  type: 'object',
  description:
    'With `Accept: application/problem+json`, errors are problem details (RFC 9457) with a `code` instead.',
  properties: {
    success: { type: 'boolean', const: false },
    error: { type: 'string', description: 'What is wrong, for people.' },
    fields: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'A message for each field that was refused, by its full path.',
    },
    requestId: { type: 'string' },
    stack: { type: 'string', description: 'Only in development.' },
  },
  required: ['success', 'error', 'requestId'],
} satisfies Schema

const MESSAGE: Schema = {
  type: 'object',
  properties: { success: { type: 'boolean', const: true }, message: { type: 'string' } },
  required: ['success', 'message'],
  additionalProperties: false,
}

/** What asks for the second step of a sign-in. */
const SECOND_STEP: Schema = {
  ...FAILURE,
  properties: {
    ...FAILURE.properties,
    ticket: { type: 'string', description: 'To be sent to `POST /login` with the answer.' },
    expiresIn: { type: 'integer', minimum: 1, description: 'Seconds.' },
    secondStep: {
      type: 'array',
      items: { type: 'string' },
      description: 'The second factors of the account that may answer.',
    },
  },
  required: [...FAILURE.required, 'ticket', 'expiresIn'],
}

/** The schemas that every document has. */
export const COMMON_SCHEMAS: Readonly<Record<string, Schema>> = {
  Failure: FAILURE,
  SecondStep: SECOND_STEP,
  Message: MESSAGE,
}

/** The failures that every operation may end with, as components. */
export const COMMON_RESPONSES: Readonly<Record<string, ResponseObject>> = {
  Unexpected: failure('`Internal Server Error`: the log says more under the request id.', []),
  Unavailable: failure(`\`${unavailable().message}\``, ['Retry-After']),
  TooLong: failure('The URL or the headers are longer than the server takes.', []),
  Own: bare("A response of the app's own code.", []),
}

/** The envelope of a value: `{ success: true, data }`. */
export function envelope(data: Schema): Schema {
  return {
    type: 'object',
    properties: { success: { type: 'boolean', const: true }, data },
    required: ['success', 'data'],
    additionalProperties: false,
  }
}

/** A response with a JSON body. */
export function success(
  description: string,
  schema: Schema,
  headers: readonly HeaderName[] = [],
): ResponseObject {
  return {
    description,
    headers: headersOf(['X-Request-Id', ...headers]),
    content: { 'application/json': { schema } },
  }
}

/** What a route of accounts responds: data or a message, or where to go. */
export function done(status: number, data: Schema | undefined): ResponseObject {
  return status === 302
    ? bare('Go there.', ['Location', 'Cache-Control'])
    : success('Done.', data ? envelope(data) : refTo('Message'), ['Cache-Control'])
}

/** A response with headers alone. */
export function bare(description: string, headers: readonly HeaderName[] = []): ResponseObject {
  return { description, headers: headersOf(['X-Request-Id', ...headers]) }
}

function failure(
  description: string,
  headers: readonly string[],
  schema = refTo('Failure'),
): ResponseObject {
  return success(description, schema, headers.filter(isDescribed))
}

function isDescribed(name: string): name is HeaderName {
  return Object.hasOwn(HEADERS, name)
}

function headersOf(names: readonly HeaderName[]): Readonly<Record<string, { $ref: string }>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/**
 * The failures of an operation, with what every request may be refused for. `isOpen` is true if code of the app may
 * respond with any other status.
 */
export function failures(
  refusals: readonly HttpError[],
  isOpen: boolean,
  form?: Described['failure'],
): Responses {
  const byStatus = new Map<number, HttpError[]>()
  for (const error of [refuse.badHost(), ...refusals]) {
    byStatus.set(error.status, [...(byStatus.get(error.status) ?? []), error])
  }
  const own = [...byStatus].map(([status, errors]) => [String(status), failureOf(errors, form)])
  return {
    ...Object.fromEntries(own),
    431: { $ref: '#/components/responses/TooLong' },
    500: { $ref: '#/components/responses/Unexpected' },
    ...(!byStatus.has(503) && { 503: { $ref: '#/components/responses/Unavailable' } }),
    ...(isOpen && { default: { $ref: '#/components/responses/Own' } }),
  }
}

function failureOf(errors: readonly HttpError[], form: Described['failure']): ResponseObject {
  const all = errors[0]?.status === 503 ? [unavailable(), ...errors] : errors
  const messages = [...new Set(all.map(({ message }) => `- \`${message}\``))].join('\n')
  const names = all.flatMap(({ headers }) => [...new Headers(headers).keys()])
  const known = Object.keys(HEADERS).filter((name) => names.includes(name.toLowerCase()))
  const asks = all.some((error) => error instanceof SecondStepRequired)
  const other = form?.of.some((error) => errors.includes(error)) && form.schema
  const more = asks ? refTo('SecondStep') : other
  return failure(messages, known, more ? { anyOf: [more, refTo('Failure')] } : undefined)
}

/** An operation without its place. */
export interface Described
  extends Pick<Operation, 'summary' | 'description' | 'parameters' | 'requestBody'> {
  readonly id: string
  readonly successes: Responses
  readonly refusals: readonly HttpError[]
  /** Whether a hook of the app may respond with another status. */
  readonly isOpen: boolean
  /** The form of the refusals in `of`, if it is not the envelope. */
  readonly failure?: { readonly schema: Schema; readonly of: readonly HttpError[] }
  /** The schemas of parameters in the path, by name. */
  readonly path?: Readonly<Record<string, Schema>>
}

/** A route without what all of them share. */
export interface RouteSketch {
  readonly summary: string
  readonly body?: Schema
  /** Whether the body may be left out. */
  readonly mayBeEmpty?: true
  /** The schema of `data`; without it the response has a message. */
  readonly data?: Schema
  readonly status?: 201 | 302
  /** Those of the query string. */
  readonly parameters?: readonly Parameter[]
  readonly refusals?: readonly HttpError[]
  readonly path?: Readonly<Record<string, Schema>>
  /** Whether a hook of the app may respond with another status. */
  readonly isOpen?: boolean
}
