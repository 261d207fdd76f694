/** Serves the files of a store that has no server of its own. */

import { HttpError } from '../http/errors/errors.ts'
import { FileForbidden, type FileStore, RangeNotSatisfiable } from '../ports/services/files.ts'
import { fileChanged, fileForbidden, rangeNotSatisfiable, storageUnavailable } from './refusals.ts'

/**
 * The file that `request` asks for, if any; throws a 412 if it is not what `isMeant` by the conditions. Links may have the path,
 * `basePath`, that another server mounts the app under.
 */
export async function serveFile(
  store: FileStore | undefined,
  request: Request,
  basePath: string,
  isMeant: (file: Response) => boolean = () => true,
): Promise<Response | undefined> {
  if (!store?.serve || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  try {
    const found = await store.serve(request)
    const file = found ?? (basePath && (await store.serve(below(basePath, request))))
    if (!file || isMeant(file)) return file || undefined
    await file.body?.cancel()
  } catch (error) {
    // Conditions come first (RFC 9110, 13.2.2), and HEAD knows no ranges.
    if (error instanceof RangeNotSatisfiable && request.method === 'GET')
      await serveFile(store, below('', request, 'HEAD'), basePath, isMeant)
    throw refusalOf(error)
  }
  throw fileChanged()
}

function refusalOf(error: unknown): HttpError {
  if (error instanceof FileForbidden) return fileForbidden()
  if (error instanceof RangeNotSatisfiable) return rangeNotSatisfiable(error.size)
  return error instanceof HttpError ? error : storageUnavailable(error)
}

/** The request as the client has sent it, with the path of the whole server. */
function below(basePath: string, { url, method: own, headers }: Request, method = own): Request {
  const whole = new URL(url, 'http://localhost')
  whole.pathname = `${basePath}${whole.pathname}`
  return new Request(whole, { method, headers })
}
