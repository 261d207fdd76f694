import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { requests } from './requests.ts'
import { surprises, tried } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'fieldgate-frameworks-'))
let tarball = ''
beforeAll(async () => {
  const args = [
    'pack',
    inject('built'),
    '--silent',
    '--ignore-scripts',
    '--pack-destination',
    folder,
  ]
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder })
  tarball = join(folder, stdout.trim())
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// What takes minutes to install and build, `npm run frameworks` runs, every night.
describe('an app inside another server', () => {
  it.each(['hono', 'elysia', 'vercel', 'netlify'])(
    'gets every request from %s, and it sends every response',
    async (name) => {
      const found = await tried(name, tarball)
      expect(Object.keys(found)).toEqual(Object.keys(requests))
      expect(surprises(name, found)).toEqual([])
    },
    300_000,
  )
})
