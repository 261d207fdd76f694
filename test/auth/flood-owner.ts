/**
 * 300 strangers flood the sign-in, each asking again as soon as it is answered: does the owner of an account still get
 * in, and after how long? `node -C fieldgate-source test/auth/flood-owner.ts [seconds]` looks for 20 seconds at each kind of flood.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { FROM_SOURCE } from '../runtimes/commands.ts'
import { password } from './accounts.ts'

/** What the strangers have in common with the owner, and with each other. */
export interface Strangers {
  /** Whether each comes from an address of its own; else all share the owner's. */
  readonly addresses: boolean
  /** Whether each request has a name of its own; else each stranger keeps to one. */
  readonly freshNames: boolean
}

/** How the owner fared. */
export interface Fared {
  readonly tries: number
  readonly signedIn: number
  /** Milliseconds of the successful sign-ins. */
  readonly median: number
  readonly worst: number
  /** How often each status was answered to the strangers. */
  readonly strangers: Readonly<Record<number, number>>
}

const STRANGERS = 300

/** Floods a server of its own while the owner of an account signs in again and again. */
export async function ownerAmong(strangers: Strangers, seconds: number): Promise<Fared> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-owner-'))
  const program = fileURLToPath(new URL('flood-process.ts', import.meta.url))
  const server = fork(program, [join(folder, 'flood.db')], {
    execArgv: [FROM_SOURCE, '--no-warnings'],
  })
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  try {
    const [{ url }] = (await once(server, 'message')) as [{ url: string }]
    return await floodAt(`${url}/auth`, agent, strangers, seconds * 1000)
  } finally {
    agent.destroy()
    await ended(server)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function floodAt(
  auth: string,
  agent: Agent,
  { addresses, freshNames }: Strangers,
  forMs: number,
): Promise<Fared> {
  const owner = { email: 'ann@example.com', password }
  const post = (path: string, body: object, client: string) =>
    status(`${auth}/${path}`, agent, body, client)
  await post('register', owner, 'home')
  const statuses: Record<number, number> = {}
  let over = false
  let sent = 0
  const stranger = async (number: number) => {
    while (!over) {
      sent += 1
      const email = `nobody${freshNames ? sent : number}@example.com`
      const client = addresses ? `stranger ${number}` : 'home'
      const answer = await post('login', { email, password: 'a wrong password' }, client)
      statuses[answer] = (statuses[answer] ?? 0) + 1
    }
  }
  const flood = Array.from({ length: STRANGERS }, (_, number) => stranger(number).catch(() => {}))
  // All of them have asked by then.
  while ((statuses[401] ?? 0) < 30) await wait(50)
  const times: number[] = []
  let tries = 0
  for (const end = performance.now() + forMs; performance.now() < end; tries += 1) {
    const start = performance.now()
    if ((await post('login', owner, 'home')) === 200) times.push(performance.now() - start)
    await wait(200)
  }
  over = true
  agent.destroy()
  await Promise.all(flood)
  times.sort((a, b) => a - b)
  const median = times[Math.floor(times.length / 2)] ?? Number.NaN
  const worst = times.at(-1) ?? Number.NaN
  return { tries, signedIn: times.length, median, worst, strangers: statuses }
}

function status(url: string, agent: Agent, body: object, client: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-client': client }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
      response.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(JSON.stringify(body))
  })
}

async function ended(server: ChildProcess): Promise<void> {
  const gone = once(server, 'exit')
  server.kill('SIGKILL')
  await gone
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [addresses, freshNames] of [
    [true, true],
    [false, false],
    [false, true],
  ] as const) {
    const fared = await ownerAmong({ addresses, freshNames }, Number(process.argv[2] ?? 20))
    const { tries, signedIn, median, worst, strangers } = fared
    console.log(
      `${addresses ? 'addresses of their own' : "the owner's address"}, ${freshNames ? 'a new name each time' : 'one name each'}: ` +
        `signed in ${signedIn} of ${tries} times, median ${median.toFixed(0)} ms, worst ${worst.toFixed(0)} ms; strangers got ${JSON.stringify(strangers)}`,
    )
  }
}
