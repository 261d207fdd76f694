import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '../..')

it('a program in a bundle finds the package of the reference page where it is started', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const outfile = join(folder, 'program.mjs')
  const contents = `import { referenceScript } from './adapters/reference/scalar.ts'
    console.log((await referenceScript())?.version)`
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' },
  })
  const { stdout } = await promisify(execFile)(process.execPath, [outfile], { cwd: root })
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})
