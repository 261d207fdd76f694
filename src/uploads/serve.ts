/**
 * Serves the files of a store that has no server of its own.
 *
 * @module
 */

import { HttpError } from '../http/errors.ts'
import { FileForbidden, type FileStore, RangeNotSatisfiable } from '../ports/files.ts'
import { fileForbidden, rangeNotSatisfiable, storageUnavailable } from './refusals.ts'

/** The file that `request` asks for, or undefined if it is not for a file of the store. */
export async function serveFile(
  store: FileStore | undefined,
  request: Request,
): Promise<Response | undefined> {
  if (!store?.serve || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  try {
    return await store.serve(request)
  } catch (error) {
    if (error instanceof FileForbidden) throw fileForbidden()
    if (error instanceof RangeNotSatisfiable) throw rangeNotSatisfiable(error.size)
    throw error instanceof HttpError ? error : storageUnavailable(error)
  }
}
