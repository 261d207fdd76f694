import { spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Project, project } from './project.ts'

const BASE = `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { openapi } from 'fieldgate/openapi'
import { postgresStore } from 'fieldgate/postgres'

const Book = defineModel('Book', { fields: { title: z.string() } })
export const app = createApp({ store: postgresStore({ url: 'postgres://nobody@127.0.0.1:1/none' }) })
app.mount('/books', createRouter({ model: Book, allowedFields: ['title'], middlewares: [] }))
`

describe('fieldgate openapi', () => {
  let folder: Project
  beforeAll(async () => {
    folder = await project({
      'app.ts': BASE,
      'documented.ts': `${BASE}app.mount('/docs', openapi({ title: 'Library', version: '2.1' }))`,
    })
  })
  afterAll(() => folder.remove())

  it('prints the document, without a database', async () => {
    const { code, out } = await folder.fieldgate('openapi', './app.ts')
    expect(code).toBe(0)
    const made = JSON.parse(out)
    expect(made).toMatchObject({ openapi: '3.2.0', info: { title: 'API', version: '1.0' } })
    expect(made.paths['/books'].query.operationId).toBe('queryBooks')
  })

  it('prints the one that the app serves, in the version that is named', async () => {
    const { out } = await folder.fieldgate('openapi', './documented.ts', '--version', '3.1')
    const made = JSON.parse(out)
    expect(made).toMatchObject({ openapi: '3.1.1', info: { title: 'Library', version: '2.1' } })
    const given = ['--title', 'Books', '--api-version', '3.0']
    const named = await folder.fieldgate('openapi', './documented.ts', ...given)
    expect(JSON.parse(named.out).info).toEqual({ title: 'Books', version: '3.0' })
  })

  it('ends with 2 for a version that there is not', async () => {
    const { code, err } = await folder.fieldgate('openapi', './app.ts', '--version', '2.0')
    expect([code, err]).toEqual([2, "fieldgate openapi: --version is 3.2 or 3.1, not '2.0'\n"])
  })

  it.skipIf(process.platform !== 'linux').each([
    ['full', '/dev/full', 'ENOSPC'],
    ['nearly full', 'openapi.json', 'EFBIG'],
  ])('ends with 2 if the disk is %s', (_, file, code) => {
    const args = ['-c', 'ulimit -f 2; exec "$@"', '-', ...folder.command, 'openapi', './app.ts']
    const cwd = folder.folder
    const out = openSync(resolve(cwd, file), 'w')
    const { status, stderr } = spawnSync('sh', args, { cwd, stdio: ['ignore', out, 'pipe'] })
    expect([status, String(stderr)]).toEqual([
      2,
      expect.stringMatching(`can't be written: ${code}`),
    ])
  })

  it('is meant by a command that is nearly that', async () => {
    const { code, out, err } = await folder.fieldgate('openpai', './app.ts')
    const says = "there is no command 'openpai'. Did you mean 'openapi'? See fieldgate --help."
    expect([code, out, err]).toEqual([2, '', `fieldgate: ${says}\n`])
  })
})
