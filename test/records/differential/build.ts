/**
 * Models and apps from their description.
 *
 * @module
 */

import * as z from 'zod'
import { batch } from '../../../src/batch/index.ts'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Logger,
  type Model,
  type ModelDefinition,
  type OnGet,
  type RouterOptions,
  ref,
  type Store,
} from '../../../src/index.ts'
import { isRare, RARE } from './rare.ts'
import type { FieldSpec, RouterSpec, WorldSpec } from './spec.ts'
import { CHOICES } from './values.ts'

/** The models of a world; the apps over all stores share them. */
export interface Models {
  readonly thing: Model
  readonly other: Model
}

/** Defines a world's models; `name` tells their collections from those of other worlds. */
export function modelsOf(spec: WorldSpec, name: string): Models {
  const define = (part: 'thing' | 'other') => {
    const { fields, id, timestamps, unique, indexes, hidden, output } = spec[part]
    const definition = {
      fields: shapeOf(fields, `${name}other`),
      ...{ id, timestamps, unique, indexes, hidden, collection: `${name}${part}` },
      ...(output && { output: (record: Fields) => ({ ...record, shown: true }) }),
    }
    return defineModel(
      `${name}${part}`,
      definition as unknown as ModelDefinition<Record<string, z.ZodType>>,
    ) as unknown as Model
  }
  return { other: define('other'), thing: define('thing') }
}

/** An app over `store` that serves the world; `clock` gives its time, `logger` takes its lines. */
export function appOf(
  spec: WorldSpec,
  models: Models,
  store: Store,
  clock: () => number,
  logger: Logger,
): App {
  const app = createApp({ store, logger, now: clock, env: {} })
  for (const router of spec.routers) {
    const options = {
      ...router.options,
      model: models[router.of],
      ...(router.onGet !== 'none' && { onGet: onGetOf(router.onGet) }),
      ...(router.scope && { scope: scopeOf(router.scope) }),
    }
    app.mount(router.mount, createRouter(options as unknown as RouterOptions<Fields>))
  }
  return app.mount('/batch', batch())
}

/** The choice of what is shown: a fixed one, or the client's own, unchecked. */
function onGetOf(spec: Exclude<RouterSpec['onGet'], 'none'>): OnGet {
  if (spec !== 'client') return () => spec as object
  return ({ query }) => ({
    ...(typeof query['~show'] === 'string' && JSON.parse(query['~show'])),
  })
}

/** Without the header there is no limit. */
function scopeOf(field: string): RouterOptions<Fields>['scope'] {
  return ({ headers }) => {
    const given = headers.get('x-scope')
    return given === null ? undefined : { [field]: decodeURIComponent(given) }
  }
}

function shapeOf(fields: readonly FieldSpec[], target: string): Record<string, z.ZodType> {
  return Object.fromEntries(fields.map((field) => [field.name, schemaOf(field, target)]))
}

function schemaOf(field: FieldSpec, target: string): z.ZodType {
  const plain = plainSchema(field, target)
  switch (field.wrap) {
    case 'plain':
      return plain
    case 'optional':
      return z.optional(plain)
    case 'nullable':
      return z.nullable(plain)
    case 'nullish':
      return z.nullish(plain)
    case 'default':
      return field.kind === 'number' || field.kind === 'int'
        ? (plain as z.ZodNumber).default(1)
        : z.nullable(plain).default(null)
  }
}

function plainSchema({ kind, inside }: FieldSpec, target: string): z.ZodType {
  if (isRare(kind)) return RARE[kind][0]
  switch (kind) {
    case 'number':
      return z.number()
    case 'int':
      return z.int()
    case 'boolean':
      return z.boolean()
    case 'date':
      return z.date()
    case 'enum':
      return z.enum(CHOICES)
    case 'ref':
    case 'id':
      return ref(target) as unknown as z.ZodType
    case 'strings':
      return z.array(z.string())
    case 'numbers':
      return z.array(z.number())
    case 'booleans':
      return z.array(z.boolean())
    case 'dates':
      return z.array(z.date())
    case 'refs':
      return z.array(ref(target) as unknown as z.ZodType)
    case 'object':
      return z.object(shapeOf(inside, target))
    case 'objects':
      return z.array(z.nullable(z.object(shapeOf(inside, target))))
    case 'loose':
      return z.looseObject(shapeOf(inside, target))
    case 'map':
      return z.record(z.string(), z.number())
    case 'unknown':
      return z.unknown()
    case 'union':
      return z.union([z.string(), z.number(), z.boolean()])
    case 'texts':
      return z.union([z.string(), z.array(z.string())])
    default:
      return z.string()
  }
}
