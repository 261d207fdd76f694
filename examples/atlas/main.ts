/**
 * `npm start`: the atlas on Node, with nothing to install: SQLite in a file, seeded on first run. config.ts has the
 * variables that name other services.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { serve } from '../../adapters/runtimes/node.ts'
import { health } from '../../src/health/index.ts'
import { type App, HttpError } from '../../src/index.ts'
import { adminPage } from './admin.ts'
import { atlas } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { User } from './models.ts'
import { progressOn } from './progress.ts'
import { type Progress, seed } from './seed.ts'
import { type Seeding, seedingWith } from './seeding.ts'
import { servicesOf } from './services.ts'
import { world } from './source.ts'

/** Exit codes of a shell: 1 for a failure, 130 for Ctrl-C. */
const FAILED = 1
const INTERRUPTED = 130

async function main(config: Config): Promise<void> {
  const { PORT: port, HOST: hostname, TRUST_PROXY: trustProxy } = config
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => (stop.signal.aborted ? process.exit(INTERRUPTED) : stop.abort()))
  }
  // Asked first, so that nothing is made for a server that cannot listen.
  await portFree(port, hostname)
  const seeding = seedingWith(progressOn(process.stdout))
  const services = { ...(await servicesOf(config)), admin: adminPage() }
  const app = atlas({ ...services, seeding: seeding.state }).use(seeding.guard)
  app.mount('/', health())
  const server = await serve(app, { port, hostname, trustProxy, signals: false })
  if (!(await seeded(app, config, seeding, server.url, stop.signal))) {
    seeding.end(new HttpError(503, 'The atlas stops.'))
    await server.close()
    console.log('Stopped. The seed goes on where it was at the next start.')
    process.exit(INTERRUPTED)
  }
  seeding.end()
  console.log(welcome(server.url))
  const admin = await firstAdmin(app)
  if (admin)
    console.log(`\nThe admin is ${admin.email}, password ${admin.password} (shown this once).`)
  stop.signal.addEventListener('abort', () => void shutDown(server.close))
  if (stop.signal.aborted) await shutDown(server.close)
}

/** Seeds what is missing, and says so. Resolves to whether the seed is complete. */
async function seeded(
  app: App,
  config: Config,
  { progress }: Seeding,
  url: string,
  signal: AbortSignal,
): Promise<boolean> {
  const begun = performance.now()
  let isNew = false
  const told: Progress = {
    ...progress,
    start(part, total, done) {
      if (!isNew)
        console.log(
          `Seeding countries and cities of the world, on first run only. ${url} shows how far it is:`,
        )
      isNew = true
      progress.start(part, total, done)
    },
  }
  const isComplete = await seed(app, world(config.ATLAS_CITIES), told, signal)
  if (isNew && isComplete)
    console.log(`Seeded in ${((performance.now() - begun) / 1000).toFixed(1)} s.`)
  return isComplete
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
function portFree(port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(port, hostname, () => probe.close(() => resolve()))
  })
}

function welcome(url: string): string {
  return `
The atlas serves on ${url}
The reference is at ${url}/docs, the admin page at ${url}/admin
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

/** What to print of an error, and of one that is known in one line. */
function told(error: NodeJS.ErrnoException, { PORT: port, HOST: hostname }: Config): unknown {
  const noHost = `HOST is '${hostname}', which is no name or address of this machine.`
  const known: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use. Stop what uses it, or choose another: PORT=3001 npm start`,
    EACCES: `Port ${port} may not be opened. Choose another: PORT=3001 npm start`,
    ENOTFOUND: noHost,
    EAI_AGAIN: noHost,
    EADDRNOTAVAIL: noHost,
  }
  return known[error.code ?? ''] ?? error
}

try {
  const config = readConfig(process.env)
  main(config).catch((error: NodeJS.ErrnoException) => {
    console.error(told(error, config))
    process.exit(FAILED)
  })
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  console.error(error.message)
  process.exit(FAILED)
}
