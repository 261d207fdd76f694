/**
 * An app of random models as source text, and the checks of what it responds, which the compiler makes.
 *
 * @module
 */

import fc from 'fast-check'
import { type Told, told } from './schemas.ts'

/** A random model. */
export interface Drawn {
  readonly name: string
  readonly mount: string
  readonly fields: Readonly<Record<string, Told>>
  /** Paths of references that can be filled in. */
  readonly references: readonly string[]
  readonly options: string
  readonly hidden: string
}

const OPTIONS = [
  '',
  `fieldsFor: () => ['one', 'q'],`,
  `onGet: () => ({ select: ['two', 'q'] }),`,
  `scope: () => ({ q: 'x' }),`,
  'lean: true,',
  `allowedFields: ['one', 'two', 'three', 'q'],`,
]
const names = ['one', 'two', 'three'] as const

/** The same models for the same seed. */
export function drawn(count: number, seed: number): readonly Drawn[] {
  const fields = fc.record({ one: told, two: told, three: told })
  const one = fc.tuple(fields, fc.constantFrom(...OPTIONS), fc.boolean())
  return fc.sample(one, { numRuns: count, seed }).map(([fields, option, isFilled], at) => {
    const references = names.flatMap((name) => referencesIn(name, fields[name].source))
    const hidden = names.find((name) => fields[name].inside)
    const onGet = `onGet: () => ({ populate: [${quoted(references)}] }) as const,`
    return {
      ...{ name: `Told${at}`, mount: `/told${at}`, fields, references },
      options: isFilled && references.length > 0 ? onGet : option,
      hidden: hidden && isFilled ? `'${hidden}.${fields[hidden].inside}'` : '',
    }
  })
}

export const quoted = (list: readonly string[]) => list.map((name) => `'${name}'`).join(', ')

function referencesIn(name: string, source: string): readonly string[] {
  if (/^(?:z\.(?:optional|nullable|nullish|readonly)\()*(?:z\.array\()?ref\(/.test(source))
    return [name]
  return /^(?:z\.array\()?z\.object\(\{ r: ref/.test(source) ? [`${name}.r`] : []
}

/** The module of the app; `root` leads to the sources. */
export function appOf(models: readonly Drawn[], root: string): string {
  return `import * as z from 'zod'
import { sqliteStore } from '${root}/adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, ref } from '${root}/src/index.ts'

const Tree = z.object({
  name: z.string(),
  at: z.date().optional(),
  get kids() {
    return z.array(Tree).optional()
  },
})
/** What hooks were given. */
export const seen: Record<string, unknown> = {}
export const Target = defineModel('Target', { fields: { t: z.string(), at: z.date().optional() } })
${models.map(modelOf).join('\n')}
const quiet = { debug() {}, info() {}, warn() {}, error: console.error }
export const app = createApp({ store: sqliteStore(), logger: quiet })
  .mount('/targets', createRouter({ model: Target, middlewares: [] }))
${models.map(({ name, mount }) => `  .mount('${mount}', router${name})`).join('\n')}
`
}

function modelOf({ name, fields, references, options, hidden }: Drawn): string {
  const all = names.map((one) => `${one}: ${fields[one]?.source},`).join('\n  ')
  return `export const ${name} = defineModel('${name}', {
  fields: { ${all} q: z.string() },
  ...{ hidden: [${hidden}], changes: true },
})
const router${name} = createRouter({
  ...{ model: ${name}, middlewares: [], expandable: [${quoted(references)}], history: true },
  aggregates: { by: ['q'] },
  beforeUpdate: ({ record, changes }) => {
    seen.${name} = { record, changes }
    return changes
  },
  ${options}
})`
}

/** A value as TypeScript. */
export function literal(value: unknown): string {
  if (value instanceof Date) return `new Date('${value.toISOString()}')`
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (!(value instanceof Object)) return `${JSON.stringify(value)}`
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${literal(one)}`,
  )
  return `{ ${members.join(', ')} }`
}

/** The values of a record of a model, as TypeScript. */
export function valuesOf({ fields, options }: Drawn, side: 'wire' | 'own'): string {
  const there = names.filter((name) => fields[name]?.wire !== 'undefined')
  // A scope sets what it names, and clients may not.
  const last = side === 'wire' && options.startsWith('scope') ? '' : `q: 'x'`
  return `{ ${there.map((name) => `${name}: ${fields[name]?.[side]}, `).join('')}${last} }`
}
