/** Failures as problem details (RFC 9457), for clients that ask for them. */

import { CODES } from './problem-codes.ts'
import { qualitiesIn } from './qualities.ts'
import { addVary, type Failure, failureResponse } from './respond.ts'

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

/** The failure as problem details, or in the envelope if `accept` refuses them after all. */
export function problemResponse(
  accept: string,
  status: number,
  failure: Failure,
  headers?: HeadersInit,
): Response {
  if (!qualitiesIn(accept).get(TYPE)) return failureResponse(status, failure, headers)
  const { error, requestId, code = codeOf(error), ...more } = failure
  const title = TITLES[status] ?? (status < 500 ? 'Client Error' : 'Server Error')
  const problem = {
    ...{ type: 'about:blank', title, status, detail: error, instance: requestId },
    // What a sentence of your own means is up to you.
    code: code ?? title.toLowerCase().replaceAll(' ', '-'),
    ...more,
  }
  const response = new Response(JSON.stringify(problem), { status, headers: headers ?? {} })
  response.headers.set('Content-Type', TYPE)
  addVary(response, 'Accept')
  return response
}

/** The parts of each sentence between what differs; the most telling ones come first. */
const sentences = Object.entries(CODES)
  .map(([code, sentence]) => ({ code, parts: sentence.split(/<\w+>/) }))
  .sort((a, b) => lengthOf(b.parts) - lengthOf(a.parts))

function lengthOf(parts: readonly string[]): number {
  return parts.join('').length
}

/** The code of a sentence of fieldgate's. */
function codeOf(sentence: string): string | undefined {
  return sentences.find(({ parts }) => isMadeOf(sentence, parts))?.code
}

/** Whether `sentence` is `parts` with something between each two. */
function isMadeOf(sentence: string, [first = '', ...others]: readonly string[]): boolean {
  const last = others.pop()
  if (last === undefined) return sentence === first
  if (!sentence.startsWith(first) || !sentence.endsWith(last)) return false
  let at = first.length
  for (const part of others) {
    const found = sentence.indexOf(part, at + 1)
    if (found === -1) return false
    at = found + part.length
  }
  return at < sentence.length - last.length
}
