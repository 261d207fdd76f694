/**
 * The handlers that every bridge carries, and the requests that drive them.
 *
 * @module
 */

import type { Requests } from '../load.ts'

/** About 1 KB, the size of a record with its envelope. */
export const answer: string = JSON.stringify({
  success: true,
  data: {
    _id: '6561f0a2b3c4d5e6f7a8b9c0',
    name: 'São Paulo',
    population: 10_021_295,
    notes: 'x'.repeat(900),
  },
})

/** What is asked, by name. */
export const works: Readonly<Record<string, Requests>> = {
  constant: { method: 'GET', paths: ['/constant'] },
  read: { method: 'GET', paths: ['/read/6561f0a2b3c4d5e6f7a8b9c0?select=name&page=2'] },
  header: { method: 'GET', paths: ['/header'] },
  post: { method: 'POST', paths: ['/post'], body: answer },
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** What an app adds to every answer. */
export const REQUEST_ID = '1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed'

/** The answer, with something of the request in it. */
export function echo(name: string, value: string, type: string | null | undefined = null): string {
  return `{"${name}":"${value}","type":"${type}",${answer.slice(1)}`
}

/** The same work on Web standards, answering with the given class. */
export function webHandler(Answer: typeof Response): (request: Request) => Promise<Response> {
  const json = (body: string) => new Answer(body, { headers: { 'Content-Type': JSON_TYPE } })
  return async (request) => {
    const { url } = request
    const path = url.slice(url.indexOf('/', 8))
    if (path.startsWith('/constant')) return json(answer)
    if (path.startsWith('/read')) return json(echo('p', path, request.headers.get('content-type')))
    if (path.startsWith('/header')) {
      // As an app does that adds a request id to whatever a handler returned.
      const response = json(answer)
      response.headers.set('X-Request-Id', REQUEST_ID)
      return response
    }
    const sent = (await request.json()) as { data: { name: string } }
    return json(echo('n', sent.data.name))
  }
}
