/**
 * A process that serves the authentication API on a store: what it is sent it asks itself, all at once, and answers
 * with what came out. `evaluated` counts the passwords that were compared with a real account's hash.
 *
 * @module
 */

import { pathToFileURL } from 'node:url'
import {
  createApp,
  createAuthRouter,
  type Fields,
  type Model,
  type Store,
} from '../../src/index.ts'
import { authOptions, cheap, type Sent, userModel } from './service.ts'

/** What a peer is told. */
export interface Task {
  readonly requests: readonly {
    readonly path: string
    readonly body: unknown
    readonly token?: string
    readonly method?: string
  }[]
}

/** What a peer answers. */
export interface Done {
  readonly answers: readonly { readonly status: number; readonly body: Fields }[]
  readonly evaluated: number
}

const [, , opener = '', place = '', grace = '10', maxAttempts = '1000000'] = process.argv
const { open } = (await import(pathToFileURL(opener).href)) as {
  open(place: string): Store | Promise<Store>
}
let evaluated = 0
const User: Model<Fields> = userModel()
const sent: Sent[] = []
const auth = createAuthRouter(
  authOptions(User, sent, {
    refresh: { enabled: true, graceSeconds: Number(grace) },
    lockout: { maxAttempts: Number(maxAttempts) },
    password: {
      hash: cheap.hash,
      verify(plain, stored) {
        if (stored.endsWith(':the right password')) evaluated += 1
        return cheap.verify(plain, stored)
      },
    },
  }),
)
const quiet = () => {}
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
const app = createApp({ store: await open(place), logger, env: {} })
app.mount('/auth', auth.router)
await app.ready()

process.on('message', async ({ requests }: Task) => {
  evaluated = 0
  const answers = await Promise.all(
    requests.map(async ({ path, body, token, method = 'POST' }) => {
      const headers: Record<string, string> = { 'content-type': 'application/json' }
      if (token !== undefined) headers.authorization = `Bearer ${token}`
      const request = new Request(`http://localhost${path}`, {
        method,
        headers,
        body: JSON.stringify(body),
      })
      const response = await app.handle(request)
      return { status: response.status, body: await response.json() }
    }),
  )
  process.send?.({ answers, evaluated } satisfies Done)
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
