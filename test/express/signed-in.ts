/**
 * Sessions of express-session, and users of passport, as guards of an app in Express find them: `toExpress(app, { auth })`.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import express5, { type Request } from 'express'
import session from 'express-session'
import express4 from 'express4'
import passport from 'passport'
import * as z from 'zod'
import { type ExpressOptions, toExpress } from '../../adapters/runtimes/express.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { createApp, createRouter, defineModel, type Guard, HttpError } from '../../src/index.ts'
import { ask } from '../../test/express/served.ts'

interface User {
  readonly _id: string
  readonly role: string
}

const Note = defineModel('SignedInNote', {
  fields: { text: z.string(), owner: z.string().optional() },
})

const signedIn: Guard = ({ auth }) => {
  if (!auth) throw new HttpError(401, 'Sign in first')
}

const versions = { 'Express 4': express4 as unknown as typeof express5, 'Express 5': express5 }

type Find = NonNullable<ExpressOptions<Request>['auth']>

/** What passport and express-session know of a request, as it is written in the manual. */
const ofPassport: Find = (request) => {
  const user = request.user as User | undefined
  return user && { userId: String(user._id), role: user.role }
}

interface Signed {
  readonly url: string
  /** The headers of a user who has signed in. */
  as(user: User): Promise<{ Cookie: string }>
  /** What guards of `app.use` have seen as `request.auth`. */
  readonly seen: unknown[]
  readonly log: string[]
}

/** A server with sessions, and an app below /api whose notes are those of their owner. */
async function served(
  t: TestContext,
  express: typeof express5,
  auth: Find = ofPassport,
): Promise<Signed> {
  const [seen, log]: [unknown[], string[]] = [[], []]
  const line = (message: string, details?: object) =>
    void log.push(`${message} ${JSON.stringify(details)}`)
  const app = createApp({
    store: sqliteStore(),
    logger: { debug: line, info: line, warn: line, error: line },
    env: {},
  })
  app.use((request) => void seen.push(request.auth))
  const options = { model: Note, middlewares: [signedIn], allowedFields: ['text'] as const }
  app.mount('/notes', createRouter({ ...options, scope: ({ auth }) => ({ owner: auth?.userId }) }))
  app.mount('/batch', batch())
  const users = new passport.Passport()
  users.serializeUser<string>((user, done) => done(null, JSON.stringify(user)))
  users.deserializeUser<string>((text, done) => done(null, JSON.parse(text)))
  const server = express()
  server.use(session({ secret: 'only for tests', resave: false, saveUninitialized: false }))
  server.use(users.initialize(), users.session())
  server.post('/login', express.json(), (request, response, next) =>
    request.login(request.body, (error) => (error ? next(error) : response.end())),
  )
  server.use('/api', toExpress(app, { auth }))
  const listening = createServer(server as RequestListener)
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    listening.closeAllConnections()
    await new Promise((resolve) => listening.close(resolve))
    await app.close()
  })
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
  const as = async (user: User) => {
    const { headers } = await ask(`${url}/login`, { json: user })
    return { Cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  }
  return { url, as, seen, log }
}

for (const [name, express] of Object.entries(versions)) {
  describe(`${name}, users of passport`, () => {
    it('are request.auth before the first guard, also in batches; others are nobody', async (t) => {
      const { url, as, seen } = await served(t, express)
      const notes = `${url}/api/notes`
      const [ann, bob] = [
        await as({ _id: 'ann', role: 'user' }),
        await as({ _id: 'bob', role: 'user' }),
      ]
      const made = await ask(notes, { json: { text: 'mine' }, headers: ann })
      assert.deepEqual([made.status, made.body.data.owner], [201, 'ann'])
      assert.deepEqual(seen, [{ userId: 'ann', role: 'user' }])
      assert.equal(made.headers.get('cache-control'), 'private, no-store')
      assert.equal((await ask(notes, { headers: ann })).body.data.length, 1)
      assert.equal((await ask(notes, { headers: bob })).body.data.length, 0)
      const operations = [{ method: 'POST', path: '/notes', body: { text: 'his' } }]
      const all = await ask(`${url}/api/batch`, { json: { operations }, headers: bob })
      assert.deepEqual([all.status, all.body.data[0].body.data.owner], [200, 'bob'])
      for (const headers of [{}, { Cookie: 'connect.sid=s%3Aforged.x' }]) {
        assert.equal((await ask(notes, { headers })).status, 401)
        assert.equal((await ask(notes, { json: { text: 'x' }, headers })).status, 401)
        assert.equal((await ask(`${url}/api/batch`, { json: { operations }, headers })).status, 401)
        assert.equal(seen.at(-1), undefined)
      }
    })

    it('are nobody by the idiom of passport too, whoever asks', async (t) => {
      const { url, as, seen } = await served(t, express, (request) => {
        const user = request.user as User | undefined
        return request.isAuthenticated() && { userId: String(user?._id) }
      })
      assert.equal((await ask(`${url}/api/notes`)).status, 401)
      assert.deepEqual(seen, [undefined])
      const headers = await as({ _id: 'ann', role: 'user' })
      const made = await ask(`${url}/api/notes`, { json: { text: 'mine' }, headers })
      assert.equal(made.body.data.owner, 'ann')
    })

    it('may be found by a promise; an error is a 500 in the envelope, and nothing runs', async (t) => {
      const found: (() => unknown)[] = [
        () => ({ userId: 'ann' }),
        () => null,
        () => {
          throw new Error('the session store is gone')
        },
        () => ({ id: 'ann' }),
      ]
      const { url, seen, log } = await served(t, express, async () => found.shift()?.() as never)
      const asked = () => ask(`${url}/api/notes`, { json: { text: 'a' } })
      assert.equal((await asked()).status, 201)
      assert.equal((await asked()).status, 401)
      assert.equal(seen.length, 2)
      for (const told of ['the session store is gone', "auth: 'userId' must be a string"]) {
        const failed = await asked()
        assert.deepEqual(
          [failed.status, failed.body],
          [500, { success: false, error: 'Internal Server Error' }],
        )
        assert.match(String(log.at(-1)), new RegExp(told))
      }
      assert.equal(seen.length, 2)
    })
  })
}
