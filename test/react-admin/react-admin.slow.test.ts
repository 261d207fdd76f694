import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
// As deep as this folder, so that the program finds the sources from both.
const installed = join(root, '.cache/react-admin')
const run = promisify(execFile)

beforeAll(async () => {
  await mkdir(installed, { recursive: true })
  const lock = 'package-lock.json'
  const text = (folder: string) => readFile(join(folder, lock), 'utf8').catch(() => '')
  const isThere = (await text(join(installed, 'done'))) === (await text(import.meta.dirname))
  for (const name of ['package.json', lock, 'tsconfig.json', 'providers.ts'])
    await copyFile(join(import.meta.dirname, name), join(installed, name))
  if (isThere) return
  await run('npm', ['ci', '--ignore-scripts'], { cwd: installed })
  await mkdir(join(installed, 'done'), { recursive: true })
  await writeFile(join(installed, 'done', lock), await text(installed))
}, 300_000)

it("the providers are of react-admin's own types", async () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  await expect(run(process.execPath, [compiler, '-p', installed])).resolves.toMatchObject({
    stdout: '',
  })
})

it("react-admin's hooks read, write and sign in through them", async () => {
  // react-admin's caches keep timers for minutes.
  const program = ['-C', 'fieldgate-source', '--test', '--test-reporter=tap']
  const { stdout } = await run(
    process.execPath,
    [...program, '--test-force-exit', 'providers.ts'],
    { cwd: installed },
  )
  expect(stdout).toContain('# fail 0')
  expect(stdout).toContain('# skipped 0')
})
