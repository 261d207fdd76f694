/**
 * SIGTERM at a random moment under load: `node -C fieldgate-source test/faults/shutdown/run.ts --runtime deno --rounds 50 [--clients 32]`.
 *
 * Each round starts a server over a new SQLite file, keeps clients under way, ends the server, and looks at what its
 * clients got and at what the file holds.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { RUNTIMES } from '../../runtimes/commands.ts'
import { type Outcome, startClients } from './clients.ts'

/** What one round has come to. */
export interface Round extends Readonly<Outcome> {
  readonly written: number
  /** Acknowledged writes that the file does not hold. */
  readonly lost: number
  /** Whether the store was closed: SQLite removes its log then. */
  readonly isClosed: boolean
  readonly exitCode: number | null
  /** From the signal to the end of the process. */
  readonly endedInMs: number
}

/** Starts a server on `runtime`, ends it under the load of `clients` connections, and looks. */
export async function shutDownUnderLoad(runtime: string, clients: number): Promise<Round> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-shutdown-'))
  const database = join(folder, 'books.db')
  const [command = '', ...args] = RUNTIMES[runtime] ?? []
  const script = fileURLToPath(new URL('server.ts', import.meta.url))
  const child = spawn(command, [...args, script, database], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'close') as Promise<[code: number | null]>
  try {
    const lines = createInterface({ input: child.stdout })
    const [line] = (await once(lines, 'line')) as [string]
    const [pid, url = ''] = line.split(' ')
    const load = startClients(url, clients)
    await sleep(300 + Math.random() * 700)
    // The runtime may have been started by a program of its package.
    load.signalled()
    const signalledAt = performance.now()
    process.kill(Number(pid), 'SIGTERM')
    const [exitCode] = await exit
    const endedInMs = Math.round(performance.now() - signalledAt)
    await load.ended
    const { written, outcome } = load
    const isClosed = !existsSync(`${database}-wal`)
    const stored = titlesIn(database)
    return {
      ...outcome,
      written: written.length,
      lost: written.filter((title) => !stored.has(title)).length,
      isClosed,
      exitCode,
      endedInMs,
    }
  } finally {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

function titlesIn(path: string): ReadonlySet<string> {
  const database = new DatabaseSync(path)
  const rows = database.prepare("SELECT json_extract(doc, '$.title') AS title FROM books").all()
  database.close()
  return new Set(rows.map(({ title }) => String(title)))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      runtime: { type: 'string', default: 'node' },
      rounds: { type: 'string', default: '50' },
      clients: { type: 'string', default: '32' },
    },
  })
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    console.log(JSON.stringify(await shutDownUnderLoad(values.runtime, Number(values.clients))))
  }
}
