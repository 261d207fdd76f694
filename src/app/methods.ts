/** Responses about the methods of a path: 405 with `Allow`, and OPTIONS (RFC 9110, 9.3.7 and 15.5.6). */

import { HttpError } from '../http/errors/errors.ts'
import { methodNotAllowed, notFound } from '../http/errors/refusals.ts'
import { type ApiRequest, METHOD_OVERRIDE } from '../http/request/request.ts'
import type { FileStore } from '../ports/services/files.ts'
import { pathOf } from '../ports/values/paths.ts'
import type { Context } from '../records/engine/route.ts'
import { serveFile } from '../uploads/serve.ts'
import { firstResponse, inLists } from './guards.ts'
import { enter, type Row } from './route-table.ts'

/**
 * Makes a QUERY of a POST that says it is one, if a route at its path takes it. Call it before any guard: guards, the
 * cache and the handler then do what they do for a QUERY. `rows` returns the rows that serve the path.
 */
export function takeQuerySentAsPost(request: ApiRequest, rows: () => readonly Row[]): void {
  if (request.headers.get(METHOD_OVERRIDE) !== 'QUERY') return
  if (rows().some((row) => row.viaPost))
    Object.defineProperty(request, 'method', { value: 'QUERY' })
}

/**
 * Responds to a request that no route has handled; `rows` are those that serve its path with other methods. Throws a
 * 404 if no route serves the path, and a 405 if none serves the method.
 *
 * The guards that all routes of a router share run first, so that a client they refuse learns nothing. The first router
 * at the path decides, as it does for every method; a later router whose guards refuse adds no methods.
 */
export async function respondElse(
  rows: readonly Row[],
  files: FileStore | undefined,
  path: string,
  request: ApiRequest,
  context: Context,
): Promise<unknown> {
  const { method } = request
  if (rows.some((row) => row.method === method)) throw notFound()
  const isFile = await servesFile(files, request, context.basePath)
  if (!isFile && isAbsent(rows, method)) throw notFound()
  const shown: Row[] = []
  // The rows of each router, in the order of the routers.
  const routers = [...Map.groupBy(rows, ({ router }) => router).values()]
  for (const [index, own] of routers.entries()) {
    const [row] = own as [Row]
    enter(row, path, request)
    const response = await refusalOf(row, request, context, index > 0)
    if (response === undefined) shown.push(...own)
    else if (index === 0) return response
  }
  const methods = new Set([...shown.map((row) => row.method), ...(isFile ? ['GET', 'HEAD'] : [])])
  // Every served path takes OPTIONS, so it is listed only if there is nothing else.
  if (methods.size > 1) methods.delete('OPTIONS')
  const allow = [...methods].sort().join(', ')
  if (method !== 'OPTIONS') throw methodNotAllowed(allow)
  const acceptQuery = shown.find((row) => row.acceptQuery !== undefined)?.acceptQuery
  // The only response without an envelope: the methods as plain text.
  return new Response(allow, {
    headers: {
      Allow: allow,
      ...(acceptQuery !== undefined && { 'Accept-Query': acceptQuery }),
      'Content-Type': 'text/plain; charset=utf-8',
    },
  })
}

/** Whether the path does not exist for `method`: no row serves it, or only rows of resources that hide the method. */
function isAbsent(rows: readonly Row[], method: string): boolean {
  const hiding = rows.filter((row) => row.absent?.includes(method)).map(shapeOf)
  return rows.every((row) => hiding.includes(shapeOf(row)))
}

/** The pattern without the names of its parameters: `/:id` and `/:slug` serve the same paths. */
function shapeOf({ pattern }: Row): string {
  return pattern.replace(/:\w+/g, ':')
}

/** The response of the guards that all routes of the row's router share; with `quietly` a refusal counts as a response. */
async function refusalOf(
  { shared = [] }: Row,
  request: ApiRequest,
  context: Context,
  quietly: boolean,
): Promise<unknown> {
  try {
    return await firstResponse(inLists(shared).prompt, request, context)
  } catch (error) {
    if (quietly && error instanceof HttpError) return error
    throw error
  }
}

/** Whether a GET of this URL would return a file. Throws a 403 if it needs a signed link. */
export async function servesFile(
  files: FileStore | undefined,
  { url }: Pick<Request, 'url'>,
  basePath: string,
): Promise<boolean> {
  if (!files?.serve) return false
  const query = url.indexOf('?')
  const target = `http://localhost${pathOf(url)}${query === -1 ? '' : url.slice(query)}`
  const found = await serveFile(files, new Request(target, { method: 'HEAD' }), basePath)
  await found?.body?.cancel()
  return found !== undefined
}
