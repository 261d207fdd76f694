/**
 * What the types of a client cost the compiler: the same 100 models and routers, mounted in statements without a client, and
 * in one app that a client calls for each.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { publishedPackage } from '../services/shared.ts'

const root = join(import.meta.dirname, '../..')
const MODELS = 100

/** What the compiler needed. */
export interface Cost {
  readonly instantiations: number
  readonly seconds: number
}

function model(index: number): string {
  return `
const Model${index} = defineModel('Cost${index}', {
  fields: {
    name: z.string().min(1), code: z.string().length(2), parent: ref('Cost${Math.max(0, index - 1)}').optional(),
    amount${index}: z.number().optional(), since: z.date().optional(), kind: z.enum(['a', 'b', 'c']).default('a'),
    tags: z.array(z.string()), place: z.object({ street: z.string(), zip: z.string() }).optional(),
    secret: z.string().optional(), isOpen: z.boolean(),
  },
  timestamps: true, unique: ['code'], hidden: ['secret'],
})
const router${index} = createRouter({
  model: Model${index}, orderBy: '-name', query: ['code', 'kind'], search: ['name'],
  filterableFields: ['code', 'kind', 'amount${index}', 'since', 'isOpen'], sortableFields: ['name', 'since'],
  allowedFields: { create: ['name', 'code', 'kind', 'tags', 'isOpen', 'amount${index}'], update: ['name', 'amount${index}'] },
})`
}

function calls(index: number): string {
  return `
{
  const service = api('/models/${index}')
  const found = await service.list({ where: { amount${index}: { gte: 5 }, kind: 'a' }, sort: '-name', pageSize: 5 })
  if (found.ok) found.data[0]?.since?.slice(1)
  const made = await service.create({ name: 'a', code: 'ab', tags: [], isOpen: true })
  if (made.ok) await service.update(made.data._id, { amount${index}: null }, { ifMatch: made.data })
  for await (const record of service.all({ where: { code: 'ab' } })) record.name
}`
}

const indexes = Array.from({ length: MODELS }, (_, index) => index)
const START = `import * as z from 'zod'
import { createApp, createRouter, defineModel, ref, type Store } from 'fieldgate'
${indexes.map(model).join('')}
`

/** The two programs. */
export const programs = {
  without: `${START}
export function app(store: Store) {
  const app = createApp({ store })
  ${indexes.map((index) => `app.mount('/models/${index}', router${index})`).join('\n  ')}
  return app
}
`,
  with: `import { createClient } from 'fieldgate/client'
${START}
function app(store: Store) {
  return createApp({ store })
    ${indexes.map((index) => `.mount('/models/${index}', router${index})`).join('\n    ')}
}
const api = createClient<ReturnType<typeof app>>('http://localhost')
export async function use() {${indexes.map(calls).join('')}
}
`,
} as const

/** What the compiler needs for a program. */
export async function cost(name: keyof typeof programs): Promise<Cost> {
  const folder = join(root, '.cache/types/cost', name)
  // As users have it: the compiler would check the sources too.
  const declared = join((await publishedPackage()).folder, 'dist/src')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'program.ts'), programs[name])
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: true,
      isolatedDeclarations: false,
      declaration: false,
      types: ['node'],
      lib: ['ES2024', 'ESNext.Collection', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
      paths: {
        fieldgate: [join(declared, 'index.d.ts')],
        'fieldgate/client': [join(declared, 'client/index.d.ts')],
      },
    },
    files: ['program.ts'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const args = ['-p', folder, '--extendedDiagnostics', '--singleThreaded']
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout } = await promisify(execFile)(tsc, args, { maxBuffer: 1e8 }).catch((error) => {
    throw new Error(`the program does not compile:\n${String(error.stdout).slice(0, 2000)}`)
  })
  const number = (label: string) => Number(new RegExp(`${label}:\\s+([\\d.]+)`).exec(stdout)?.[1])
  return { instantiations: number('Instantiations'), seconds: number('Check time') }
}
