/**
 * Node: an app behind node:http, through srvx.
 *
 * @module
 */

import { serve as listen } from 'srvx/node'
import type { App } from '../../src/app.ts'

/** Where to listen. */
export interface ServeOptions {
  readonly port?: number
  readonly hostname?: string
}

/** A listening server. */
export interface Server {
  readonly url: string
  close(): Promise<void>
}

/** Serves `app`. Rejects with the listening error (`code: 'EADDRINUSE'`) when the port cannot be had. */
export async function serve(app: App, options: ServeOptions = {}): Promise<Server> {
  const server = listen({
    fetch: (request: Request) => app.handle(request),
    port: options.port ?? 3000,
    hostname: options.hostname ?? '127.0.0.1',
    silent: true,
    gracefulShutdown: false,
  })
  await server.ready()
  return {
    url: server.url ?? '',
    async close() {
      await server.close()
      await app.close()
    },
  }
}
