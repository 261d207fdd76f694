/**
 * Asks a store for its own URLs, as the app does.
 *
 * @module
 */

import type { OpenFiles } from '../../../extras/contract/index.ts'
import {
  FileForbidden,
  type FileStore,
  RangeNotSatisfiable,
} from '../../../src/ports/services/files.ts'

/** GET of the URLs of a store that serves itself. */
export function served(files: FileStore): OpenFiles['get'] {
  return async (url, headers = {}) => {
    try {
      const request = new Request(new URL(url, 'http://localhost'), { headers })
      return (await files.serve?.(request)) ?? new Response(null, { status: 404 })
    } catch (error) {
      if (error instanceof FileForbidden) return new Response(null, { status: 403 })
      if (error instanceof RangeNotSatisfiable) return new Response(null, { status: 416 })
      throw error
    }
  }
}
