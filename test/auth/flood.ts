/**
 * 800 sign-ins at once, with scrypt as it is: what does the server's memory grow to, and how long do others wait?
 * `node -C fieldgate-source test/auth/flood.ts [seconds]` looks for 30 seconds.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { slots } from '../../adapters/hashers/scrypt.ts'
import { FROM_SOURCE } from '../runtimes/commands.ts'
import { password } from './accounts.ts'

/** What a flood does. */
export interface Flood {
  /** The 99th percentile of `GET /me`, in milliseconds, without and in the flood. */
  readonly idle: number
  readonly flooded: number
  /** What the memory grew by at most, and what the hashes that run at once need, in MiB. */
  readonly grown: number
  readonly hashes: number
  /** How often each status was answered to the sign-ins; those that still wait are missing. */
  readonly statuses: Readonly<Record<number, number>>
  /** When the last 503 came, in milliseconds after the flood began. */
  readonly lastRefusal: number
  readonly retryAfter: boolean
}

const SIGN_INS = 800
/** As many as are surely refused: 512 wait, and a few are looked at. */
const SURPLUS = 200
const MIB = 1024 * 1024
const SCRYPT_MIB = 16

/** Floods a server of its own and looks at it for some seconds. */
export async function flood(seconds: number): Promise<Flood> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-flood-'))
  const program = fileURLToPath(new URL('flood-process.ts', import.meta.url))
  const server = fork(program, [join(folder, 'flood.db')], {
    execArgv: [FROM_SOURCE, '--no-warnings'],
  })
  try {
    const [{ url }] = (await once(server, 'message')) as [{ url: string }]
    return await floodAt(`${url}/auth`, server, seconds * 1000)
  } finally {
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function floodAt(auth: string, server: ChildProcess, forMs: number): Promise<Flood> {
  const account = { email: 'ann@example.com', password }
  const { data } = (await (await post(`${auth}/register`, account)).json()) as {
    data: { token: string }
  }
  const me = () => timed(`${auth}/me`, data.token)
  const idle = await percentile(me, Math.min(2000, forMs / 2))
  const before = await memoryOf(server)
  const statuses: Record<number, number> = {}
  let lastRefusal = 0
  let retryAfter = true
  const start = performance.now()
  for (let sent = 0; sent < SIGN_INS; sent += 1) {
    post(`${auth}/login`, { ...account, password: 'a wrong password' }).then(
      ({ status, headers }) => {
        statuses[status] = (statuses[status] ?? 0) + 1
        if (status !== 503) return
        lastRefusal = performance.now() - start
        retryAfter &&= headers.has('retry-after')
      },
      // The server is ended before all are answered.
      () => {},
    )
  }
  // However slow the machine: as long as it takes to see both kinds of answers.
  const isSeen = () => (statuses[401] ?? 0) > 0 && (statuses[503] ?? 0) >= SURPLUS
  const flooded = await percentile(me, forMs, isSeen)
  const after = await memoryOf(server)
  return {
    idle,
    flooded,
    grown: (after.peak - before.rss) / MIB,
    hashes: slots() * SCRYPT_MIB,
    statuses: { ...statuses },
    lastRefusal,
    retryAfter,
  }
}

function post(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function timed(url: string, token: string): Promise<number> {
  const start = performance.now()
  let response: Response
  do {
    response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    await response.text()
    if (response.status === 503) await wait(50)
    // The whole flood comes at once, which a slow machine may take for an overload: the client tries again.
  } while (response.status === 503)
  if (response.status !== 200) throw new Error(`GET ${url}: ${response.status}`)
  return performance.now() - start
}

/** The 99th percentile of requests that are sent one every few milliseconds. */
async function percentile(
  request: () => Promise<number>,
  forMs: number,
  isEnough: () => boolean = () => true,
): Promise<number> {
  const end = performance.now() + forMs
  const times: number[] = []
  while (performance.now() < end || !isEnough()) {
    times.push(await request())
    await wait(5)
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
}

async function memoryOf(server: ChildProcess): Promise<{ rss: number; peak: number }> {
  const said = once(server, 'message')
  server.send('memory')
  return ((await said) as [{ rss: number; peak: number }])[0]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { idle, flooded, grown, hashes, statuses, lastRefusal } = await flood(
    Number(process.argv[2] ?? 30),
  )
  console.log(`${SIGN_INS} sign-ins at once: ${JSON.stringify(statuses)} answered`)
  console.log(`the last 503 came after ${lastRefusal.toFixed(0)} ms`)
  console.log(
    `GET /me, 99th percentile: idle ${idle.toFixed(1)} ms, flooded ${flooded.toFixed(1)} ms, ${(flooded / idle).toFixed(1)} times`,
  )
  console.log(`memory: +${grown.toFixed(0)} MiB, hashes at once need ${hashes} MiB`)
}
