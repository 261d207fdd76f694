/**
 * Runs one server and ends it when its standard input closes, that is when the test run stops it or dies, however
 * abruptly. Started by server.ts: `node guard.ts <JSON: paths to remove> <folder> <command> <arguments>`. Prints the
 * server's pid, 0 if it did not start, and closes its standard output when the server has gone.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const [litter = '[]', folder = '', command = '', ...args] = process.argv.slice(2)
const log = openSync(join(folder, 'output'), 'a')
const server = spawn(command, args, { cwd: folder, stdio: ['ignore', log, log] })

console.log(server.pid ?? 0)
server.on('error', (error) => writeSync(log, `${error.message}\n`))

let gone = false
server.on('close', () => {
  gone = true
  process.stdout.end()
})

process.stdin.resume().on('close', () => {
  if (gone) return leave()
  server.on('close', leave)
  server.kill('SIGKILL')
})

function leave(): void {
  for (const path of JSON.parse(litter))
    rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  process.exit()
}
