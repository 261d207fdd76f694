import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installed } from './consumer.ts'

const run = promisify(execFile)
const project = mkdtempSync(join(tmpdir(), 'fieldgate-compilers-'))

/** The oldest that is supported, the last ones of their lines, and the newest. */
const COMPILERS = ['5.7.3', '5.9.3', '6.0.3', '7.0.2']
const folderOf = (version: string) => `typescript-${version}`

/** Everything is exported, so that the declarations have to name each type. */
const server = `import { createApp, createAuthRouter, createRouter, defineModel, ref } from 'fieldgate'
import { apiKeys } from 'fieldgate/api-keys'
import * as bun from 'fieldgate/bun'
import * as deno from 'fieldgate/deno'
import { serve } from 'fieldgate/node'
import { sqliteStore } from 'fieldgate/sqlite'
import { totp } from 'fieldgate/totp'
import { uploads } from 'fieldgate/uploads'
import * as z from 'zod'

export const Book = defineModel('Book', {
  fields: {
    title: z.string(),
    kind: z.enum(['novel', 'essay']).default('novel'),
    pages: z.int().optional(),
    cover: z.string().optional(),
    owner: ref('User'),
  },
  timestamps: true,
})
export const methods = [apiKeys(), totp({ issuer: 'Books' })] as const
export const auth = createAuthRouter({
  token: { secret: 'a secret that guards nothing, for this test' },
  emailVerification: { enabled: true },
  mail: { sender: () => {} },
  methods,
})
export const books = createRouter({
  model: Book,
  middlewares: [auth.requireAuth],
  query: ['kind'],
  scope: { read: ({ auth }) => auth && { kind: 'novel' }, write: ({ auth }) => ({ owner: auth?.userId }) },
  allowedFields: { create: ['title', 'kind', 'owner', 'cover'], update: ['title', 'cover'] },
  aggregates: { by: ['kind'], of: ['pages', 'createdAt'] },
  upload: { path: 'covers/', fields: [{ name: 'cover', maxCount: 1 }] },
})
export const app = createApp({ store: sqliteStore() }).mount('/auth', auth.router).mount('/books', books)
export const servers = [() => serve(app), () => bun.serve(app), () => deno.serve(app)]
export const code = uploads
`

const client = `import { createClient } from 'fieldgate/client'
import { recordQueries } from 'fieldgate/tanstack-query'
import type { app } from './server.js'

export const api = createClient<typeof app>('http://localhost')
export const [accounts, books] = [api('/auth'), api('/books')]
export const queries = recordQueries(['books'], books)

export async function use() {
  // The scope sets the owner, and the upload takes the cover.
  const made = await books.create({ title: 'Heidi', cover: new Blob([]) })
  // @ts-expect-error 'title' is no file
  await books.create({ title: new Blob([]) })
  // @ts-expect-error 'kind' cannot be changed
  await books.update('1', { kind: 'essay' })
  // @ts-expect-error the scope of reads may hide what was written
  if (made.ok) console.log(made.data.title)
  const groups = await books.aggregate({ by: ['kind'], count: true, sum: ['pages'], max: ['createdAt'] })
  return groups.ok ? groups.data.map(({ kind, sum }) => [kind, sum.pages]) : undefined
}
`

const options = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ isolatedModules: true, verbatimModuleSyntax: true, skipLibCheck: true },
  ...{
    target: 'ES2022',
    module: 'NodeNext',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    types: ['node'],
  },
  ...{ composite: true, rootDir: '.', outDir: 'out' },
}

beforeAll(async () => {
  const compilers = COMPILERS.map((version) => `${folderOf(version)}@npm:typescript@${version}`)
  await installed(project, [...compilers, 'zod@4.6.7', '@types/node@22', '@tanstack/query-core@5'])
  writeFileSync(join(project, 'server.ts'), server)
  writeFileSync(join(project, 'client.ts'), client)
  const config = { compilerOptions: options, files: ['server.ts', 'client.ts'] }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config))
}, 300_000)
afterAll(() => rmSync(project, { recursive: true, force: true }))

describe('a project that emits declarations of its app and its client', () => {
  it.each(COMPILERS)('compiles with TypeScript %s', async (version) => {
    const compiler = join(project, 'node_modules', folderOf(version), 'bin/tsc')
    const compiled = await run(process.execPath, [compiler, '-b', project, '--force']).catch(
      (error: { stdout: string }) => error,
    )
    expect(compiled.stdout).toBe('')
  })
})
