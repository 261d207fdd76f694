/** A list as a file. It is loaded when it is used. */

import type { Answer, Ask } from '../sending/answers.ts'
import type { Given } from '../sending/given.ts'
import type { Result } from '../sending/results.ts'
import type { Wanted } from './query.ts'

export interface ListGiven extends Given {
  /** Asks for the list in the ways that there are. */
  asked(wanted: Wanted, send: (ask: Ask) => Promise<Answer>): Promise<Answer>
}

export function exported(
  _: string,
  [format, { headers: own, ...wanted } = {}]: [string, Wanted?],
  given: ListGiven,
): Promise<Result<Response>> {
  const headers = { ...own, Accept: format === 'csv' ? 'text/csv' : 'application/x-ndjson' }
  return responseTo({ ...wanted, headers }, given)
}

/** The response to a request for a list, which is not read. */
export async function responseTo(
  wanted: Wanted,
  { call, asked, answer, resultOf, checkPath }: ListGiven,
): Promise<Result<Response>> {
  let data: Response | undefined
  const accept = `${wanted.headers?.Accept}`
  const found = await asked(wanted, async ({ path, ...init }) => {
    const given = Object.entries({
      ...init.headers,
      'Content-Type': init.body ? 'application/json' : undefined,
    })
    const headers = given.filter(([, value]) => value !== undefined) as [string, string][]
    try {
      checkPath(path)
      const all = { ...init, headers } as RequestInit
      const response = await call.fetch(path.startsWith('/') ? path : `/${path}`, all)
      const type = response.headers.get('Content-Type')
      if (response.ok && (type ?? accept).startsWith(accept)) data = response
      // A proxy's page, or the list in another form.
      const error = `The server answered ${response.status} with ${type}, not ${accept}.`
      const text = response.ok ? JSON.stringify({ success: false, error }) : await response.text()
      return answer(response.status, text, response.headers)
    } catch (error) {
      return answer(0, (error as Error).message, new Headers())
    }
  })
  return data ? { ok: true, data } : resultOf<never, never>(found)
}
