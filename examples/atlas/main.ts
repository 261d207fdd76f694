/**
 * `npm start`: the atlas on Node, with nothing to install: SQLite in a file, seeded on first run.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { diskFiles } from '../../adapters/files/disk.ts'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { App } from '../../src/index.ts'
import { atlas } from './app.ts'
import { User } from './models.ts'
import { progressOn } from './progress.ts'
import { seed } from './seed.ts'
import { world } from './source.ts'

// A variable that is empty counts as one that is not set.
const port = Number(process.env.PORT?.trim() || 3000)
const hostname = process.env.HOST?.trim() || '127.0.0.1'
const path = process.env.ATLAS_DB ?? fileURLToPath(new URL('../../data/atlas.db', import.meta.url))

/** Exit codes of a shell: 1 for a failure, 130 for Ctrl-C. */
const FAILED = 1
const INTERRUPTED = 130
/** What `createApp` and `diskFiles` ask for. */
const MIN_SECRET = 32

/** What the environment says that cannot be. */
class Unusable extends Error {}

async function main(): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => (stop.signal.aborted ? process.exit(INTERRUPTED) : stop.abort()))
  }
  // Asked before the seed, so that nobody waits for a seed that cannot be served.
  await portFree()
  mkdirSync(dirname(path), { recursive: true })
  const key = secret()
  const files = diskFiles({ root: join(dirname(path), 'files'), secret: key })
  const app = atlas({ store: sqliteStore({ path }), files, secret: key })
  const started = performance.now()
  const progress = progressOn(process.stdout)
  let seeded = false
  const complete = await seed(
    app,
    world(),
    {
      ...progress,
      start(part, total, done) {
        if (!seeded) console.log('Seeding countries and cities of the world, on first run only:')
        seeded = true
        progress.start(part, total, done)
      },
    },
    stop.signal,
  )
  if (!complete) {
    await app.close()
    console.log('Stopped. The seed goes on where it was at the next start.')
    process.exit(INTERRUPTED)
  }
  if (seeded) console.log(`Seeded in ${((performance.now() - started) / 1000).toFixed(1)} s.`)
  const server = await serve(app, { port, hostname, signals: false })
  console.log(welcome(server.url))
  const admin = await firstAdmin(app)
  if (admin)
    console.log(`\nThe admin is ${admin.email}, password ${admin.password} (shown this once).`)
  stop.signal.addEventListener('abort', () => void shutDown(server.close))
  if (stop.signal.aborted) await shutDown(server.close)
}

/** Signs tokens; kept beside the database, so that a restart signs nobody out. */
function secret(): string {
  const file = `${path}.secret`
  const given = process.env.ATLAS_SECRET
  if (given && given.length < MIN_SECRET) {
    throw new Unusable(`ATLAS_SECRET must have at least ${MIN_SECRET} characters.`)
  }
  if (given) return given
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 })
  return readFileSync(file, 'utf8')
}

/** Makes an admin where there is none: an account like any other, whose role the server's own code sets. */
async function firstAdmin(app: App): Promise<{ email: string; password: string } | undefined> {
  const users = app.store.collection(User)
  if (await users.findOne({ role: 'admin' })) return undefined
  const account = { email: 'admin@atlas.example', password: randomBytes(9).toString('base64url') }
  const request = new Request('http://localhost/auth/register', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(account),
  })
  const response = await app.handle(request)
  const { data } = (await response.json()) as { data?: { user: { _id: string } } }
  if (!data) return undefined
  await users.update(data.user._id, { role: 'admin' })
  return account
}

async function shutDown(close: () => Promise<void>): Promise<void> {
  console.log('\nStopping: finishing what is in flight …')
  await close()
  console.log('Stopped.')
}

/** Rejects with the listening error when the port cannot be had. */
function portFree(): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(port, hostname, () => probe.close(() => resolve()))
  })
}

function welcome(url: string): string {
  return `
The atlas serves on ${url}
The reference is at ${url}/docs
Try:
  curl '${url}/countries?region=Europe&sort=-area'     (each with the URL of its flag)
  curl -G '${url}/cities' --data-urlencode 's=são paulo' -d page=1 -d pageSize=3
  curl '${url}/cities?s=brazil&compareField=population&compareOperator=gte&compareValue=1000000&with=country'
  curl '${url}/feed/cities?pageSize=5'
  curl -X QUERY '${url}/cities' -H 'Content-Type: application/json' \\
       -d '{"filter":{"population":{"gte":5000000},"capital":true},"sort":["-population"],"limit":5}'
  curl -X POST '${url}/cities' -H 'Content-Type: application/json' -d '{"name":"Atlantis"}'
Sign up, and keep favourites that only you see:
  curl -X POST '${url}/auth/register' -H 'Content-Type: application/json' \\
       -d '{"email":"you@example.com","password":"correct horse"}'
  curl '${url}/favourites' -H 'Authorization: Bearer <token>'
Ctrl-C stops it.`
}

main().catch((error: NodeJS.ErrnoException) => {
  const noHost = `HOST is '${hostname}', which is no name or address of this machine.`
  const known: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use. Stop what uses it, or choose another: PORT=3001 npm start`,
    EACCES: `Port ${port} may not be opened. Choose another: PORT=3001 npm start`,
    ERR_SOCKET_BAD_PORT: `PORT is '${process.env.PORT}'; it must be a whole number from 0 to 65535.`,
    ENOTFOUND: noHost,
    EAI_AGAIN: noHost,
    EADDRNOTAVAIL: noHost,
  }
  console.error(error instanceof Unusable ? error.message : (known[error.code ?? ''] ?? error))
  process.exit(FAILED)
})
