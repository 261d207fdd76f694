/** Failures, in the form that their client accepts: problem details (RFC 9457) for those that ask for them, else the envelope. */

import type { HeaderValues } from '../errors/errors.ts'
import { qualitiesIn } from './qualities.ts'
import { addVary, type Failure, failed } from './respond.ts'

const TYPE = 'application/problem+json'

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Content',
  423: 'Locked',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** The codes of sentences that apps refuse with as well. */
const SHARED = new Map([
  ['Check the submitted values.', 'invalid-fields'],
  ['Entry not found.', 'entry-not-found'],
  ['Authentication required.', 'authentication-required'],
  ['You do not have access to this resource.', 'no-access'],
  ['API key required.', 'api-key-required'],
])

/** The response to a request with these headers that has failed. */
export function failureFor(
  { headers: asked }: Pick<Request, 'headers'>,
  status: number,
  failure: Failure,
  headers?: HeaderValues,
): Response {
  const accept = asked.get('accept') ?? ''
  const isProblem = /problem\+json/i.test(accept) && qualitiesIn(accept).get(TYPE)
  const response = isProblem
    ? problemOf(status, failure, headers)
    : failed({ success: false, ...failure, code: undefined }, status, headers)
  addVary(response, 'Accept')
  return response
}

function problemOf(status: number, failure: Failure, headers?: HeaderValues): Response {
  const { error, requestId, code = SHARED.get(error), ...more } = failure
  const title = TITLES[status] ?? (status < 500 ? 'Client Error' : 'Server Error')
  const problem = {
    ...{ type: 'about:blank', title, status, detail: error, instance: requestId },
    // What a sentence of your own means is up to you.
    code: code ?? title.toLowerCase().replaceAll(' ', '-'),
    ...more,
  }
  const response = failed(problem, status, headers)
  response.headers.set('Content-Type', TYPE)
  return response
}
