import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const clone = mkdtempSync(join(tmpdir(), 'fieldgate-clone-'))
const packages = ['.', ...globSync('packages/*/', { cwd: root })]

/** The files of the repository, without anything that was built, and its installed packages. */
beforeAll(() => {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  for (const file of files.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(root, file), join(clone, file))
  }
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
})
afterAll(() => rmSync(clone, { recursive: true, force: true }))

interface Manifest {
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: unknown
}

/** The files in `dist` to which a manifest leads. */
function named(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('./dist/') ? [value.slice(2)] : []
  return Object.values(value ?? {}).flatMap(named)
}

describe.each(packages)('npm pack of %s in a fresh clone', (folder) => {
  it('has every file that its manifest names, though nobody has built it', async () => {
    const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--dry-run'], {
      cwd: join(clone, folder),
      maxBuffer: 2 ** 26,
    })
    const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [
      { readonly files: readonly { readonly path: string }[] },
    ]
    const text = readFileSync(join(clone, folder, 'package.json'), 'utf8')
    const { bin, exports } = JSON.parse(text) as Manifest
    const paths = new Set(packed.files.map(({ path }) => path))
    const wanted = named([bin, exports])
    expect(wanted.length).toBeGreaterThan(0)
    expect(wanted.filter((path) => !paths.has(path))).toEqual([])
  }, 300_000)
})
