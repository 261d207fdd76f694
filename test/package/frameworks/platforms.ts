/**
 * The projects of examples/frameworks: where each has the shared app, how it is told where to listen, and what its
 * platform keeps from the app.
 *
 * @module
 */

/** How a project is run. */
export interface Platform {
  /** Where the shared app is. */
  readonly api: string
  /** Arguments of its `start`, if variables don't tell it where to listen. */
  readonly args?: (port: number) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A module with a handler: the platform starts it, and here a server of the tests does. */
  readonly handler?: string
  /** What its page has that asks the app. */
  readonly page?: RegExp
  /** What its platform keeps from the app, by the name of the request; docs/frameworks.md tells the same. */
  readonly without?: Readonly<Record<string, RegExp>>
}

export const platforms: Readonly<Record<string, Platform>> = {
  next: {
    api: 'lib/api.ts',
    page: /<li>Bergen/,
    without: { QUERY: /^400 / },
    args: (port) => ['--port', `${port}`, '--hostname', '127.0.0.1'],
    env: { NEXT_TELEMETRY_DISABLED: '1' },
  },
  sveltekit: { api: 'src/lib/server/api.ts' },
  astro: { api: 'src/api.ts', env: { ASTRO_TELEMETRY_DISABLED: '1' } },
  nuxt: { api: 'server/api.ts' },
  'react-router': {
    api: 'app/api.server.ts',
    without: { QUERY: /^405 \{"message":"Unexpected Server Error"\}/ },
  },
  'tanstack-start': {
    api: 'src/api.ts',
    args: (port) => ['--port', `${port}`, '--host', '127.0.0.1'],
  },
  hono: { api: 'api.ts' },
  elysia: { api: 'api.ts' },
  vercel: { api: 'lib/api.ts', handler: 'api/index.ts' },
  netlify: { api: 'lib/api.ts', handler: 'netlify/functions/api.ts' },
}
