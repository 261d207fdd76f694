/**
 * Load: wrk drives a server, and says what it saw.
 *
 * @module
 */

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One kind of request, with the variants that are asked in turn. */
export interface Requests {
  readonly method: string
  readonly paths: readonly string[]
  /** One body, or several that go in turn. */
  readonly body?: string | readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** What every `nth` request is instead, if not all are alike. */
  readonly every?: { readonly nth: number; readonly is: Requests }
}

/** What a round of load gave. */
export interface Load {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
}

/** Refuses to go on where wrk is missing. */
export function checkWrk(): void {
  if (spawnSync('wrk', ['--version']).error) {
    throw new Error('the bench needs wrk: apt-get install wrk, or brew install wrk')
  }
}

/** Asks `base` for `seconds` over `connections`. */
export async function load(
  base: string,
  requests: Requests,
  connections: number,
  seconds: number,
): Promise<Load> {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s']
  const output = await withScript(lua(requests), (path) => run('wrk', [...args, '-s', path, base]))
  const summary = /^RESULT (.*)$/m.exec(output)?.[1]
  if (summary === undefined) throw new Error(`wrk said nothing to go by:\n${output}`)
  const [count = 0, microseconds = 1, p50 = 0, p99 = 0, errors = 0] = summary.split(' ').map(Number)
  return {
    requestsPerSecond: (count / microseconds) * 1e6,
    p50Ms: p50 / 1000,
    p99Ms: p99 / 1000,
    errors,
  }
}

async function withScript<T>(script: string, use: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-bench-'))
  try {
    const path = join(folder, 'requests.lua')
    writeFileSync(path, script)
    return await use(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function lua({ every, ...requests }: Requests): string {
  return `local function asking(method, paths, bodies, headers)
  local at = -1
  return function()
    at = at + 1
    return wrk.format(method, paths[at % #paths + 1], headers, bodies[at % #bodies + 1])
  end
end
local usual = asking(${luaArguments(requests)})
local other = ${every ? `asking(${luaArguments(every.is)})` : 'usual'}
local count = 0
request = function()
  count = count + 1
  return count % ${every?.nth ?? 1} == 0 and other() or usual()
end
done = function(summary, latency)
  local e = summary.errors
  local errors = e.connect + e.read + e.write + e.status + e.timeout
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), errors))
end
`
}

function luaArguments({ method, paths, body, headers = {} }: Requests): string {
  const bodies = body === undefined || typeof body === 'string' ? [body] : body
  const sent = Object.entries({ 'Content-Type': 'application/json', ...headers })
  const members = sent.map(([name, value]) => `[${quoted(name)}] = ${quoted(value)}`)
  return [quoted(method), table(paths), table(bodies), `{ ${members.join(', ')} }`].join(', ')
}

function table(values: readonly (string | undefined)[]): string {
  return `{ ${values.map(quoted).join(', ')} }`
}

/** JSON's strings are Lua's, as long as they are of ASCII. */
function quoted(value: string | undefined): string {
  return value === undefined ? 'nil' : JSON.stringify(value)
}

function run(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.once('error', reject)
    child.once('close', () => resolve(output))
  })
}
