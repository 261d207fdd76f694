/** Serves the files of a store that has no server of its own. */

import { HttpError } from '../http/errors/errors.ts'
import { FileForbidden, type FileStore, RangeNotSatisfiable } from '../ports/services/files.ts'
import { fileForbidden, rangeNotSatisfiable, storageUnavailable } from './refusals.ts'

/** The file that `request` asks for, if any. Links may have the path, `basePath`, that another server mounts the app under. */
export async function serveFile(
  store: FileStore | undefined,
  request: Request,
  basePath = '',
): Promise<Response | undefined> {
  if (!store?.serve || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  try {
    const found = await store.serve(request)
    return found ?? (basePath === '' ? undefined : await store.serve(below(basePath, request)))
  } catch (error) {
    if (error instanceof FileForbidden) throw fileForbidden()
    if (error instanceof RangeNotSatisfiable) throw rangeNotSatisfiable(error.size)
    throw error instanceof HttpError ? error : storageUnavailable(error)
  }
}

/** The request as the client has sent it, with the path of the whole server. */
function below(basePath: string, { url, method, headers }: Request): Request {
  const whole = new URL(url, 'http://localhost')
  whole.pathname = `${basePath}${whole.pathname}`
  return new Request(whole, { method, headers })
}
