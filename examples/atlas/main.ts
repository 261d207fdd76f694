/**
 * `npm start`: the atlas on Node, with nothing to install: SQLite in a file, seeded on first run.
 *
 * @module
 */

import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { atlas } from './app.ts'
import { progressOn } from './progress.ts'
import { seed } from './seed.ts'

const port = Number(process.env.PORT ?? 3000)
const hostname = process.env.HOST ?? '127.0.0.1'
const path = process.env.ATLAS_DB ?? fileURLToPath(new URL('../../data/atlas.db', import.meta.url))

/** Exit codes of a shell: 1 for a failure, 130 for Ctrl-C. */
const FAILED = 1
const INTERRUPTED = 130

async function main(): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => (stop.signal.aborted ? process.exit(INTERRUPTED) : stop.abort()))
  }
  // Asked before the seed, so that nobody waits for a seed that cannot be served.
  await portFree()
  mkdirSync(dirname(path), { recursive: true })
  const app = atlas({ store: sqliteStore({ path }) })
  const started = performance.now()
  const progress = progressOn(process.stdout)
  let seeded = false
  const complete = await seed(
    app,
    {
      ...progress,
      start(part, total, done) {
        if (!seeded) console.log('Seeding countries and cities of the world, on first run only:')
        seeded = true
        progress.start(part, total, done)
      },
    },
    { signal: stop.signal },
  )
  if (!complete) {
    await app.close()
    console.log('Stopped. The seed goes on where it was at the next start.')
    process.exit(INTERRUPTED)
  }
  if (seeded) console.log(`Seeded in ${((performance.now() - started) / 1000).toFixed(1)} s.`)
  const server = await serve(app, { port, hostname })
  console.log(welcome(server.url))
  stop.signal.addEventListener('abort', () => void shutDown(server.close))
  if (stop.signal.aborted) await shutDown(server.close)
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

function welcome(base: string): string {
  const url = base.replace(/\/$/, '')
  return `
The atlas serves on ${url}
Try:
  curl '${url}/countries?region=Europe&sort=-area'
  curl -G '${url}/cities' --data-urlencode 's=são paulo' -d page=1 -d pageSize=3
  curl '${url}/cities?s=brazil&compareField=population&compareOperator=gte&compareValue=1000000&with=country'
  curl '${url}/feed/cities?pageSize=5'
  curl -X QUERY '${url}/cities' -H 'Content-Type: application/json' \\
       -d '{"filter":{"population":{"gte":5000000},"capital":true},"sort":["-population"],"limit":5}'
  curl -X POST '${url}/cities' -H 'Content-Type: application/json' -d '{"name":"Atlantis"}'
Ctrl-C stops it.`
}

main().catch((error: NodeJS.ErrnoException) => {
  const known: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use. Stop what uses it, or choose another: PORT=3001 npm start`,
    EACCES: `Port ${port} may not be opened. Choose another: PORT=3001 npm start`,
  }
  console.error(known[error.code ?? ''] ?? error)
  process.exit(FAILED)
})
