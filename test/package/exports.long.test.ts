import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { publishedPackage } from '../services/shared.ts'

const root = join(import.meta.dirname, '../..')
const { folder, tarball } = await publishedPackage()
const run = promisify(execFile)

it('the package passes arethetypeswrong for ES modules', async () => {
  const attw = join(root, 'node_modules/.bin/attw')
  // It ends with a code of its own when it finds a problem; `profile` leaves out what only CommonJS meets.
  const options = ['--profile', 'esm-only', '--format', 'ascii']
  await expect(run(attw, [tarball, ...options], { cwd: folder })).resolves.toBeDefined()
}, 300_000)
