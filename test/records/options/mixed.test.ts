import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  createRouter,
  defineModel,
  type Fields,
  type Model,
  type ModelDefinition,
  type RouterOptions,
} from '../../../src/index.ts'
import { service } from '../service.ts'

/** As TypeScript compiles `enum Level { Low, High }`. */
const LEVEL = { 0: 'Low', 1: 'High', Low: 0, High: 1 } as const

/** Fields whose values are of several JSON types, or of a type that nobody declared. */
const MIXED = {
  unknown: z.unknown().optional(),
  any: z.any().optional(),
  union: z.union([z.string(), z.number(), z.boolean()]).nullish(),
  lists: z.union([z.string(), z.array(z.string())]).optional(),
  dates: z.union([z.date(), z.string()]).optional(),
  literals: z.literal(['a', 1]).optional(),
  cut: z
    .string()
    .transform((text) => text.trim())
    .optional(),
  custom: z.custom<string>().optional(),
  json: z.json().optional(),
}

/** Fields with one type, however it is written. */
const PLAIN = {
  numbers: z.union([z.number(), z.literal(1), z.int()]).optional(),
  texts: z.union([z.string(), z.literal('a'), z.enum(['b', 'c']), z.null()]).optional(),
  maybe: z.literal(['a', null]).optional(),
  level: z.enum(LEVEL).optional(),
  piped: z
    .string()
    .transform((text) => text.trim())
    .pipe(z.string())
    .optional(),
}

const IN = z.object({ any: z.unknown().optional() }).optional()
const Held = defineModel('MixedHeld', {
  fields: { name: z.string(), ...MIXED, ...PLAIN, in: IN },
})
const PATHS = [...Object.keys(MIXED), 'in.any']

function mount(options: Record<string, unknown>) {
  const served = service()
  const router = { model: Held, allowedFields: ['name'], ...options }
  served.app.mount('/things', createRouter(router as unknown as RouterOptions<Fields>))
  return served
}

function define(definition: Record<string, unknown>) {
  return () =>
    defineModel('Broken', definition as unknown as ModelDefinition<Record<string, z.ZodType>>)
}

const ADVICE =
  'which may hold values of several types and so has no order. Declare one type, as in z.string() (after a transform: .pipe(z.string())), or leave it out'

describe('a field of several types has no order', () => {
  test.each(PATHS)('%s cannot stand in sortableFields or orderBy', (path) => {
    for (const [option, value] of [
      ['sortableFields', [path]],
      ['orderBy', path],
      ['orderBy', ['name', `-${path}`]],
    ] as const) {
      expect(() => mount({ [option]: value })).toThrow(
        new TypeError(`Router '/things': '${option}' names '${path}', ${ADVICE}`),
      )
    }
  })

  test.each(PATHS)('%s cannot be unique, alone or with others', (path) => {
    const fields = { name: z.string(), ...MIXED, in: IN }
    for (const unique of [[path], [['name', path]]]) {
      expect(define({ fields, unique })).toThrow(
        new TypeError(
          `Model 'Broken': 'unique' names '${path}', which may hold values of several types and so has no order. Declare one type, as in z.string() (after a transform: .pipe(z.string())), or leave it out`,
        ),
      )
    }
  })

  test.each(PATHS)('%s in query is filtered by, and not sorted by', async (path) => {
    const { app, send } = mount({ query: [path], pagination: 'cursor' })
    const values = path === 'in.any' ? { in: { any: 'a' } } : { [path]: 'a' }
    await app.store.collection(Held as unknown as Model).insert({ name: 'x', ...values })
    await app.store.collection(Held as unknown as Model).insert({ name: 'y' })
    const found = await send('GET', `/things?${path}=a`)
    expect(found.records.map(({ name }) => name)).toEqual(['x'])
    for (const sort of [path, `-${path}`]) {
      expect(await send('GET', `/things?sort=${sort}`)).toMatchObject({
        status: 400,
        body: { error: `Field '${path}' is not sortable.` },
      })
      expect((await send('QUERY', '/things', { json: { sort } })).status).toBe(400)
    }
  })

  test('legacyMode and find of app.store sort by none either', async () => {
    const { app, send } = mount({ legacyMode: true })
    for (const path of PATHS) {
      expect((await send('GET', `/things?sort=${path}`)).status).toBe(400)
      const find = app.store.collection(Held as unknown as Model).find({}, { sort: path })
      await expect(find).rejects.toThrow(`Field '${path}' is not sortable.`)
    }
    expect((await send('GET', '/things?sort=-name')).status).toBe(200)
  })

  test.each(Object.keys(PLAIN))('%s has one type: it sorts, and may be unique', async (path) => {
    expect(() => mount({ sortableFields: [path], orderBy: path })).not.toThrow()
    expect((await mount({ query: [path] }).send('GET', `/things?sort=${path}`)).status).toBe(200)
    expect(define({ fields: PLAIN, unique: [path], indexes: [path] })).not.toThrow()
  })

  test('a list of lists is in no list of fields, and the message says why', () => {
    const Grid = defineModel('MixedGrid', {
      fields: {
        grid: z.array(z.array(z.string())),
        rows: z.array(z.object({ cells: z.array(z.array(z.string())) })),
      },
    })
    const { app } = service()
    for (const [option, name] of [
      ['query', 'grid'],
      ['filterableFields', 'rows.cells'],
      ['sortableFields', 'grid'],
      ['search', 'grid'],
    ]) {
      const options = { model: Grid, allowedFields: [], middlewares: [], [String(option)]: [name] }
      const mount = () => app.mount('/grid', createRouter(options as never))
      expect(mount).toThrow(`'${option}' names '${name}', which is a list of lists or in one.`)
    }
  })

  test('an index may hold one, for filters; two of one index may both hold lists, which MongoDB refuses', () => {
    const fields = { name: z.string(), ...MIXED }
    expect(define({ fields, indexes: ['any', ['union', '-name']] })).not.toThrow()
    expect(define({ fields, indexes: [['any', 'name', '-lists']] })).toThrow(
      new TypeError(
        "Model 'Broken': 'indexes' names 'any' and 'lists' in one index, which may both hold lists. Give each an index of its own",
      ),
    )
  })
})
