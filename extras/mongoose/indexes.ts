/** The indexes of a schema: those that a model can declare, and a row for each of the others. */

import { isMixed, isScalar } from '../../src/model/model.ts'
import type { ObjectShape } from '../../src/ports/store/shape.ts'
import type { Collated } from '../../src/ports/store/store.ts'
import type { Report } from './report.ts'
import type { IndexOptions, SchemaParts } from './structure.ts'

/** The indexes of a model's definition. */
export interface Indexes {
  readonly unique: readonly (readonly string[])[]
  readonly indexes: readonly (readonly string[])[]
  readonly collations: readonly Collated[]
}

/** Whether the path `name` is a list that an index of `schema` takes for a place, alone or as the coordinates of one. */
export function isPlace(schema: SchemaParts, name: string): boolean {
  const around = name.endsWith('.coordinates') && name.slice(0, name.lastIndexOf('.'))
  return schema.indexes().some(([keys]) => {
    const isOne = ['2dsphere', '2d'].includes(String(keys[name]))
    return isOne || (around !== false && keys[around] === '2dsphere')
  })
}

/** What an index cannot be carried over for. */
const PARTIAL = ['partialFilterExpression', 'expireAfterSeconds', 'wildcardProjection'] as const

/** The indexes of `schema` that records of this shape can have. */
export function indexesOf(schema: SchemaParts, shape: ObjectShape, report: Report): Indexes {
  const unique: string[][] = []
  const indexes: string[][] = []
  const collations: Collated[] = []
  for (const [keys, options = {}] of schema.indexes()) {
    const names = Object.keys(keys)
    const why = obstacleOf(keys, options, shape)
    if (why !== undefined) {
      const feature = options.unique ? 'unique' : 'index'
      report.add(names.join(', '), feature, `${why}: the one that Mongoose made stays`)
    } else if (options.unique) {
      unique.push(names)
      const { collation } = options
      if (collation) collations.push({ fields: names, collation })
    } else {
      indexes.push(names.map((name) => (Number(keys[name]) < 0 ? `-${name}` : name)))
    }
  }
  return { unique, indexes, collations }
}

/** Why a model has no such index; undefined if it has. */
function obstacleOf(
  keys: Readonly<Record<string, unknown>>,
  options: IndexOptions,
  shape: ObjectShape,
): string | undefined {
  const names = Object.keys(keys)
  const kind = Object.values(keys).find((one) => ![1, -1].includes(Number(one)))
  if (kind !== undefined) return `an index of the kind '${String(kind)}'`
  const [option] = PARTIAL.filter((name) => options[name] !== undefined)
  if (option) return `an index with ${option}`
  if (options.collation && !options.unique) return 'an index with a collation'
  if (!names.every((name) => isScalar(shape, name))) return 'an index of lists or objects'
  const mixed = names.filter((name) => isMixed(shape, name))
  if (mixed.length > (options.unique ? 0 : 1)) return 'an index of values of several types'
  return undefined
}
