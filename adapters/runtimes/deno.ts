/**
 * `serve` for Deno.
 *
 * @module
 */

import type { App } from '../../src/app.ts'
import { platformOf } from './client-address.ts'
import { background, listening, type Served, type ServeOptions, served, urlOf } from './server.ts'

/** What is used of Deno; its own types would bind every user of the package to them. */
interface Deno {
  serve(
    options: {
      readonly port: number
      readonly hostname?: string
      onListen(): void
    },
    handler: (
      request: Request,
      info: { readonly remoteAddr: { readonly hostname?: string } },
    ) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> }
}

/**
 * Serves `app` and resolves once it accepts requests. Rejects with the error of listening, whose `code` is
 * `EADDRINUSE` for a port in use, with that of `app.ready()`, or with a `TypeError` for options that make no sense.
 *
 * `Deno.serve(app.handle)` serves as well; this adds the close that finishes what is in flight.
 */
export async function serve(app: App, options: ServeOptions = {}): Promise<Served> {
  const { port, hostname } = listening(options)
  const { serve: listen } = (globalThis as unknown as { Deno: Deno }).Deno
  const work = background()
  const platform = platformOf(work, options.trustProxy)
  const server = listen(
    { port, ...(hostname !== undefined && { hostname }), onListen: () => {} },
    (request, { remoteAddr }) =>
      app.handle(
        request,
        undefined,
        platform(request, () => remoteAddr.hostname),
      ),
  )
  // Deno can only be told to abort all of it, and then throws past every handler where a body is half read (2.9).
  const cut = () => {}
  const url = urlOf(hostname, server.addr.port)
  return served({ url, app, work, stop: () => server.shutdown(), cut }, options)
}
