import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient, memoryStorage, type Result } from '../../../src/client/index.ts'
import type { App, Model } from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { appOf, type Drawn, drawn, literal, quoted, valuesOf } from './program.ts'

const root = join(import.meta.dirname, '../../..')
const MODELS = 60

type Values = Readonly<Record<string, unknown>>
type Calls = Readonly<Record<string, (...given: unknown[]) => Promise<Result<unknown>>>>
type Own = Readonly<Record<string, (...given: unknown[]) => Promise<Values>>>

let folder = ''
beforeAll(() => {
  mkdirSync(join(root, '.cache'), { recursive: true })
  folder = mkdtempSync(join(root, '.cache/told-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const HEAD = `import { createClient, type Result } from '../../src/client/index.ts'
import { createRouter } from '../../src/index.ts'
import * as made from './app.ts'

const api = createClient<typeof made.app>('http://localhost')
declare function dataOf<D, P>(call: () => Promise<Result<D, P>>): D
declare const TARGET: string
`

/** What the compiler finds wrong with what the server responds, by the calls. */
async function mistakes(models: readonly Drawn[], responses: readonly string[]): Promise<string[]> {
  const lines = [...HEAD.split('\n'), ...responses]
  writeFileSync(join(folder, 'checks.ts'), lines.join('\n'))
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      noUnusedLocals: false,
      noUnusedParameters: false,
      rootDir: root,
    },
    ...{ include: ['*.ts'], exclude: [] },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const printed = await new Promise<string>((resolve) => {
    execFile(join(root, 'node_modules/.bin/tsc'), ['-p', folder], (_, stdout) => resolve(stdout))
  })
  return printed.split(/^(?=\S)/m).flatMap((message) => {
    const [, line] = /checks\.ts\((\d+),/.exec(message) ?? []
    const source = lines[Number(line) - 1] ?? ''
    const name = /Told\d+/.exec(source)?.[0] ?? ''
    const { fields } = models.find((one) => one.name === name) ?? {}
    return message.trim() === '' ? [] : [`${message}${source}\n${JSON.stringify(fields)}`]
  })
}

/** Runs `script` for each model with the values that it takes, and resolves to lines for the compiler. */
async function asked(models: readonly Drawn[], made: Values): Promise<string[]> {
  const app = made.app as App
  const api = createClient('http://localhost', {
    fetch: async (input, init) => app.handle(new Request(input as string, init)),
    storage: memoryStorage(),
  }) as unknown as (mount: string) => Calls
  const target = await api('/targets').create?.({ t: 't', at: '2024-01-01T00:00:00.000Z' })
  const { _id } = (target?.ok ? target.data : {}) as { _id: string }
  const lines: string[] = []
  const read = (source: string) => new Function('TARGET', `return ${source}`)(_id) as Values
  for (const model of models) {
    const { name, mount, references } = model
    const [wire, own] = [valuesOf(model, 'wire'), valuesOf(model, 'own')]
    const note = (expression: string, value: unknown) =>
      lines.push(`{ let it = ${expression}; it = ${literal(value)}; void it } // ${name}`)
    const call = async (source: string, method: string, ...given: unknown[]) => {
      const result = await api(mount)[method]?.(...given)
      expect(result, `${source} of ${JSON.stringify(model.fields)}`).toMatchObject({ ok: true })
      if (!result?.ok) return {}
      note(`dataOf(() => api('${mount}').${source})`, result.data)
      return result.data as { _id: string }
    }
    const { _id: id = '' } = (await call(`create(${wire})`, 'create', read(wire))) as {
      _id?: string
    }
    lines.push('// @ts-expect-error there is no such field')
    lines.push(`void api('${mount}').create({ ...${wire}, nope: 1 })`)
    await call(`get('')`, 'get', id)
    await call('list()', 'list')
    await call(`list({ select: ['q'] })`, 'list', { select: ['q'] })
    await call(`aggregate({ by: ['q'], count: true })`, 'aggregate', { by: ['q'], count: true })
    await call(`update('', ${wire})`, 'update', id, read(wire))
    await call(`history('')`, 'history', id)
    const { record, changes } = (made.seen as Readonly<Record<string, Values>>)[name] as Values
    lines.push(
      `createRouter({ model: made.${name}, beforeUpdate: ({ record, changes }) => { record = ${literal(record)}; changes = ${literal(changes)}; return changes } }) // ${name}`,
    )
    const all = app.store.collection(made[name] as Model) as unknown as Own
    const collection = `await made.app.store.collection(made.${name})`
    note(`${collection}.findById('')`, await all.findById?.(id))
    note(`${collection}.insert(${own})`, await all.insert?.(read(own)))
    note(`${collection}.update('', ${own})`, await all.update?.(id, read(own)))
    if (references.length === 0) continue
    const expand = `{ expand: [${quoted(references)}] }`
    note(`${collection}.find({}, ${expand})`, await all.find?.({}, { expand: references }))
    // Else it may not be seen.
    if (!/fieldsFor|select/.test(model.options))
      await call(`get('', ${expand})`, 'get', id, { expand: references })
  }
  return lines
}

it.each(Array.from({ length: runs(1) }, () => Math.trunc(Math.random() * 1e9)))(
  `what ${MODELS} random models respond, take and refuse is what their types say (seed %i)`,
  async (seed) => {
    const models = drawn(MODELS, seed)
    writeFileSync(join(folder, 'app.ts'), appOf(models, '../..'))
    const made = await import(`${pathToFileURL(join(folder, 'app.ts'))}?${seed}`)
    const lines = await asked(models, made)
    await made.app.close()
    expect(await mistakes(models, lines)).toEqual([])
  },
)
