/**
 * `npm run check`: types, lint and the quick tests at the same time, for the time between two edits. Prints how each
 * ended, with the output of those that failed, and fails when one did.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const env = {
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
}

/** What a commit has to pass; the longest begin first. */
const CHECKS = {
  // A fourth worker would load everything once more, and have no core.
  tests: 'vitest run --project unit --reporter=dot --maxWorkers=3',
  types: 'npm run --silent typecheck',
  lint: 'npm run --silent lint',
}

/** Runs a command to its end and prints how it went; resolves to whether it passed. */
function passes(name: string, command: string): Promise<boolean> {
  const started = performance.now()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const run = spawn(command, { cwd: root, env, shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  run.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  run.stderr.on('data', (chunk: Buffer) => output.push(chunk))
  run.on('close', (code) => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    if (code !== 0) process.stdout.write(Buffer.concat(output))
    console.log(`${name}: ${code === 0 ? 'passed' : 'failed'} in ${seconds} s`)
    resolve(code === 0)
  })
  return promise
}

const results = await Promise.all(
  Object.entries(CHECKS).map(([name, command]) => passes(name, command)),
)
process.exitCode = results.every(Boolean) ? 0 : 1
