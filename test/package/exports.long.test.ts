import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { publishedPackage } from '../services/shared.ts'

const root = join(import.meta.dirname, '../..')
const { folder, tarball } = await publishedPackage()
const run = promisify(execFile)

/** Package.json's names of each form, whose files other tests look for: each name would take a third of a second. */
const NAMES = ['.', './node', './s3', './wasm-images']

it('the package passes arethetypeswrong for ES modules', async () => {
  const attw = join(root, 'node_modules/.bin/attw')
  // It ends with a code of its own when it finds a problem; `profile` leaves out what only CommonJS meets.
  const options = ['--profile', 'esm-only', '--format', 'ascii', '--entrypoints', ...NAMES]
  await expect(run(attw, [tarball, ...options], { cwd: folder })).resolves.toBeDefined()
}, 300_000)

it('every declaration finds the declarations that it imports', () => {
  const files = globSync('dist/**/*.d.ts', { cwd: folder })
  expect(files.length).toBeGreaterThan(500)
  const lost = files.flatMap((file) => {
    const imports = readFileSync(join(folder, file), 'utf8').matchAll(
      /(?:from|import\() ?'([^']*)'/g,
    )
    return [...imports]
      .filter(([, name = '']) => name.startsWith('.') && !isThere(join(folder, file, '..', name)))
      .map(([, name]) => `${file}: ${name}`)
  })
  expect(lost).toEqual([])
})

/** Whether there is a declaration of the module at `path`, as a program names it. */
function isThere(path: string): boolean {
  return /\.[jt]s$/.test(path) && existsSync(path.replace(/ts$|js$/, 'd.ts'))
}
