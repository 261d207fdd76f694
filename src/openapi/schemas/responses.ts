/** Responses: failures from the very errors that are thrown, successes in the envelope. */

import { SecondStepRequired } from '../../auth/setup/options.ts'
import type { BodyLimits } from '../../http/body/body.ts'
import type { HttpError } from '../../http/errors/errors.ts'
import { unavailable } from '../../http/errors/outages.ts'
import * as refuse from '../../http/errors/refusals.ts'
import type {
  Content,
  Header,
  Operation,
  ResponseObject,
  Responses,
  Schema,
} from '../specification.ts'
import { refTo } from './named-schemas.ts'
import { object, TEXT } from './schemas.ts'

const header = (description: string, schema: Schema = TEXT): Header => ({ description, schema })

export const HEADERS: Readonly<Record<string, Header>> = {
  'X-Request-Id': header('Identifies the request in the logs of the server.'),
  ETag: header('The version of the body.'),
  Location: header('The path of the new record.'),
  'Cache-Control': header('What caches may keep.'),
  Vary: header('The headers of the request that the response depends on.'),
  'X-Cache': header(
    'Whether the response came from the cache. Absent while the cache cannot be reached.',
    { type: 'string', enum: ['HIT', 'MISS'] },
  ),
  'Retry-After': header('Seconds until another try makes sense.', { type: 'integer', minimum: 0 }),
  'WWW-Authenticate': header('The scheme to sign in with.'),
  'Accept-Query': header('The media types that QUERY takes (RFC 10008).'),
  Connection: header('`close`: the connection ends.'),
  'Change-Id': header(
    'The position of what was written in the log of changes. Absent if nothing changed.',
  ),
}

/** The failures of a request with a JSON body; the limits are those of the app. `null`: media types are refused otherwise. */
export function bodyRefusals(
  limits: BodyLimits,
  expected: string | null = 'application/json',
): HttpError[] {
  return [
    refuse.bodyTooLarge(limits.maxBodySize),
    refuse.tooManyBodyValues(limits.maxBodyValues),
    refuse.bodyTooSlow(),
    refuse.bodyCutOff(undefined),
    refuse.invalidJson(),
    ...(expected === null ? [] : [refuse.unsupportedBody(expected)]),
    refuse.unsupportedEncoding(),
  ]
}

const FAILURE = {
  type: 'object',
  description:
    'With `Accept: application/problem+json`, errors are problem details (RFC 9457) with a `code` instead.',
  properties: {
    success: { const: false },
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

/** Without a type, as in the schemas of models: Python that openapi-generator makes would refuse each response. */
const SUCCESS: Schema = { const: true }

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

export const COMMON_SCHEMAS: Readonly<Record<string, Schema>> = {
  Failure: FAILURE,
  SecondStep: SECOND_STEP,
  Message: object({ success: SUCCESS, message: TEXT }),
}

/** The failures that every operation may end with, as components. */
export const COMMON_RESPONSES: Readonly<Record<string, ResponseObject>> = {
  Unexpected: success(
    '`Internal Server Error`: the log says more under the request id.',
    refTo('Failure'),
  ),
  Unavailable: success(`\`${unavailable().message}\``, refTo('Failure'), ['Retry-After']),
  TooLong: success('The URL or the headers are longer than the server takes.', refTo('Failure')),
  Own: bare("A response of the app's own code."),
}

/** The envelope of a value: `{ success: true, data }`. */
export function envelope(data: Schema): Schema {
  return object({ success: SUCCESS, data })
}

export function success(
  description: string,
  schema: Schema,
  headers: readonly string[] = [],
  others: Content = {},
): ResponseObject {
  const content = { 'application/json': { schema }, ...others }
  return { ...bare(description, headers), content }
}

/** What a route of accounts responds: data or a message, or where to go. */
export function done(status: number, data: Schema | undefined): ResponseObject {
  return status === 302
    ? bare('Go there.', ['Location', 'Cache-Control'])
    : success('Done.', data ? envelope(data) : refTo('Message'), ['Cache-Control'])
}

/** A response with headers alone. */
export function bare(description: string, headers: readonly string[] = []): ResponseObject {
  const names = ['X-Request-Id', ...headers]
  const refs = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
  return { description, headers: Object.fromEntries(refs) }
}

/** The failures of an operation, and of any request. `isOpen`: code of the app may respond with any other status. */
export function failures(
  refusals: readonly HttpError[],
  isOpen: boolean,
  form?: Described['failure'],
): Responses {
  const byStatus = Map.groupBy([refuse.badHost(), ...refusals], ({ status }) => status)
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
  return success(messages, more ? { anyOf: [more, refTo('Failure')] } : refTo('Failure'), known)
}

export function jsonBody(schema: Schema, required = false): Pick<Operation, 'requestBody'> {
  return {
    requestBody: { ...(required && { required }), content: { 'application/json': { schema } } },
  }
}

/** An operation without its place. */
export interface Described
  extends Pick<Operation, 'summary' | 'description' | 'parameters' | 'requestBody'> {
  readonly id: string
  readonly successes: Responses
  readonly refusals: readonly HttpError[]
  /** Whether a hook of the app may respond with another status. Default false. */
  readonly isOpen?: boolean | undefined
  /** The form of the refusals in `of`, if it is not the envelope. */
  readonly failure?: { readonly schema: Schema; readonly of: readonly HttpError[] }
  /** The schemas of parameters in the path, by name. */
  readonly path?: Readonly<Record<string, Schema>>
}

/** A route without what all of them share. */
export interface RouteSketch
  extends Pick<Described, 'parameters' | 'path' | 'isOpen'>,
    Partial<Pick<Described, 'refusals'>> {
  readonly summary: string
  readonly body?: Schema
  /** Whether the body may be left out. */
  readonly mayBeEmpty?: true
  /** The schema of `data`; without it the response has a message. */
  readonly data?: Schema
  readonly status?: 201 | 302
}
