import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const MODELS = `
import * as z from 'zod'
import { createApp, createAuthRouter, createRouter, defineModel, ref, userFields } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

export const User = defineModel('User', {
  fields: { name: z.string(), ...userFields({ refresh: { enabled: true } }) },
  unique: ['email'],
})
export const Book = defineModel('Book', {
  fields: { title: z.string(), year: z.number().optional(), owner: ref('User') },
})
`

const APP = `${MODELS}
export const auth = createAuthRouter({ model: User, token: { secret: '' }, refresh: { enabled: true } })
export const books = createRouter({
  model: Book,
  query: ['year'],
  scope: ({ auth }) => ({ owner: auth?.userId }),
  middlewares: [auth.requireAuth],
})
export const app = createApp({ store: sqliteStore() })
  .mount('/auth', auth.router)
  .mount('/books', books)
`

/** Each with a part of what the compiler says. */
const MISTAKES: readonly (readonly [options: string, says: readonly string[]])[] = [
  [`querry: ['year']`, [`'querry' does not exist in type`, `Did you mean to write 'query'?`]],
  [`query: ['yeer']`, [`FieldName<{ title: string; year?: number | undefined; owner: string; }>`]],
  [`query: ['title'], search: ['titel']`, [`Did you mean '"title"'?`]],
  [`orderBy: '-titel'`, [`Did you mean '"-title"'?`]],
  [`allowedFields: { create: ['ownr'] }`, [`Did you mean '"owner"'?`]],
  [`pagination: 'pages'`, [`not assignable to type '"cursor" | "offset"'`]],
  [`access: { list: true, delete: false }`, [`NoSuchName<"delete", keyof AccessOptions>`]],
  [
    `scope: () => ({ ownr: 'x', title: 'a' })`,
    [`NoSuchName<"ownr", "owner" | "title" | "year" | keyof Managed>`],
  ],
  [
    `scope: { read: () => {}, write: async () => ({ or: [{ titel: 'a' }] }) }`,
    [`NoSuchName<"titel", "owner" | "title" | "year" | keyof Managed>`],
  ],
  [`scope: () => ({ owner: 1 })`, [`Type 'number' is not assignable to type 'string'`]],
  [`onGet: () => ({ populate: 'ownr' })`, [`"ownr"' is not assignable`, `Did you mean '"owner"'?`]],
  [`onGet: () => ({ select: ['-titel'] })`, [`Did you mean '"-title"'?`]],
  [`fieldsFor: () => ['titel']`, [`"owner" | "title" | "year" | keyof Managed`]],
]

let folder = ''
/** What the compiler prints of the mistakes, by their lines, and the declarations of the app. */
let [messages, declarations] = [new Map<number, string>(), '']

beforeAll(async () => {
  mkdirSync(join(root, '.cache'), { recursive: true })
  folder = mkdtempSync(join(root, '.cache/compiled-'))
  writeFileSync(join(folder, 'app.ts'), APP)
  const calls = MISTAKES.map(([options]) => `createRouter({ model: Book, ${options} })`)
  writeFileSync(join(folder, 'mistakes.ts'), [...calls, MODELS].join('\n'))
  const compilerOptions = {
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, noUnusedLocals: false },
    ...{ rootDir: root, outDir: join(folder, 'out') },
  }
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, exclude: [] }))
  const printed = await new Promise<string>((resolve) => {
    execFile(join(root, 'node_modules/.bin/tsc'), ['-p', folder], (_, stdout) => resolve(stdout))
  })
  for (const message of printed.split(/^(?=\S)/m)) {
    const line = Number(/mistakes\.ts\((\d+),/.exec(message)?.[1])
    messages.set(line, (messages.get(line) ?? '') + message)
  }
  const inOut = folder.slice(root.length)
  declarations = readFileSync(join(folder, 'out', inOut, 'app.d.ts'), 'utf8')
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('what the compiler says of a mistake', () => {
  it.each(MISTAKES.map((one, at) => [...one, at + 1] as const))('%s', (_, says, line) => {
    for (const part of says) expect(messages.get(line)).toContain(part)
  })
})

describe('the types of an app', () => {
  it('name only what can be imported', () => {
    const names = [...declarations.matchAll(/import\("fieldgate"\)\.(\w+)/g)].map(
      ([, name]) => name,
    )
    const exported = readFileSync(join(root, 'src/index.ts'), 'utf8')
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(exported))).toEqual([])
    expect(names).toContain('ServedRecords')
  })

  it('show of accounts the fields that somebody wrote or asked for', () => {
    const user = /User: import\("fieldgate"\)\.Model<\{([^}]*)\}, \{([^}]*)\}/.exec(declarations)
    const fields = (text = '') => text.match(/\w+\??: [\w |]+/g)
    const own = ['name: string', 'email?: string | undefined', 'password?: string | undefined']
    expect(fields(user?.[1])).toEqual([...own, 'role: string'])
    expect(fields(user?.[2])).toEqual([...own, 'role?: string | undefined'])
  })

  it('are short', () => {
    expect(declarations.length).toBeLessThan(2_500)
  })
})
