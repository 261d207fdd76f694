import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const built = inject('built')
const run = promisify(execFile)

it('the package passes arethetypeswrong for ES modules', async () => {
  const pack = ['pack', '--silent', '--ignore-scripts']
  const tarball = (await run('npm', pack, { cwd: built })).stdout.trim()
  const attw = join(root, 'node_modules/.bin/attw')
  // It ends with a code of its own when it finds a problem; `profile` leaves out what only CommonJS meets.
  const options = ['--profile', 'esm-only', '--format', 'ascii']
  await expect(run(attw, [tarball, ...options], { cwd: built })).resolves.toBeDefined()
}, 300_000)
