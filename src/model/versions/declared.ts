/** What a model's zod schemas declare of its records. (`shape.ts` has their types.) */

import type { $ZodObject, $ZodType, $ZodTypes } from 'zod/v4/core'
import type { Declared } from '../../ports/store/declared.ts'
import { madeOnce } from '../../ports/values/once.ts'
import { catchallOf, isPlain, memberOf, samePlace, wrappedIn } from '../parts.ts'
import { staticDefault } from '../values/absence.ts'

/** The declaration of a whole record: the fields of `schema`, and the fields that the server sets itself. */
export function declaredRecord(schema: $ZodObject, managed: readonly string[]): Declared {
  const place = placeOf([schema])
  const scalars = managed.map((name) => [name, scalar] as const)
  const record: Declared = {
    open: false,
    members: new Map([...scalars, ...(place.members ?? [])]),
    rest: place.rest,
    elements: undefined,
    get defaults() {
      const value = place.defaults
      Object.defineProperty(record, 'defaults', { value })
      return value
    },
  }
  return record
}

const scalar: Declared = { open: false, members: undefined, rest: undefined, elements: undefined }

function placeOf(schemas: readonly $ZodType[]): Declared {
  const [only, ...others] = schemas
  return only && others.length === 0 ? placeOfOne(only) : newPlace(schemas)
}

/** A schema that refers to itself leads back to the same place. */
const placeOfOne = madeOnce((schema: $ZodType) => newPlace([schema]))

/** The containers allowed at a place, and whether any other value is. */
interface Containers {
  readonly objects: $ZodObject[]
  /** The schemas of the values of records (`z.record()`). */
  readonly values: $ZodType[]
  readonly elements: $ZodType[]
  open: boolean
}

/** A place. Its contents are found when one is first read, as schemas may be recursive; then they are plain members. */
function newPlace(schemas: readonly $ZodType[]): Declared {
  let containers: Containers | undefined
  const place = {} as Declared
  for (const [name, find] of Object.entries(contents)) {
    const get = () => {
      containers ??= containersIn(schemas)
      const value = find(containers)
      Object.defineProperty(place, name, { value })
      return value
    }
    Object.defineProperty(place, name, { configurable: true, enumerable: true, get })
  }
  return place
}

/** How each is found. Defaults may be functions of yours, which nothing may call while a model is defined. */
const contents: { readonly [Name in keyof Required<Declared>]: (found: Containers) => unknown } = {
  open: ({ open }) => open,
  members: (found) => (found.objects.length > 0 ? membersOf(found) : undefined),
  rest: ({ objects, values }) =>
    placeOrNone([...objects.flatMap(({ _zod }) => catchallOf(_zod.def) ?? []), ...values]),
  elements: ({ elements }) => placeOrNone(elements),
  defaults({ objects: [object, ...others], values }) {
    // Where one of several objects may be stored, nobody knows which one's members are missing.
    return object && others.length === 0 && values.length === 0 ? defaultsOf(object) : undefined
  },
}

function placeOrNone(schemas: readonly $ZodType[]): Declared | undefined {
  return schemas.length > 0 ? placeOf(schemas) : undefined
}

/** In a union, a member that one object declares by name may be an extra member of the next. */
function membersOf({ objects, values }: Containers): ReadonlyMap<string, Declared> {
  const names = new Set(objects.flatMap(({ _zod }) => Object.keys(_zod.def.shape)))
  const members = [...names].map((name) => {
    const schemas = objects.flatMap(({ _zod }) => memberOf(_zod.def, name) ?? [])
    return [name, placeOf([...schemas, ...values])] as const
  })
  return new Map(members)
}

function defaultsOf({ _zod: { def } }: $ZodObject): ReadonlyMap<string, unknown> {
  const entries = Object.entries(def.shape).map(([name, schema]) => [name, staticDefault(schema)])
  return new Map(entries.filter(([, value]) => value !== undefined) as [string, unknown][])
}

function containersIn(schemas: readonly $ZodType[]): Containers {
  const found: Containers = { objects: [], values: [], elements: [], open: false }
  for (const schema of samePlace(schemas, 'out')) {
    add(schema as $ZodTypes, found)
    if (found.open) break
  }
  return found
}

function add(schema: $ZodTypes, found: Containers): void {
  const { def } = schema._zod
  const { objects, values, elements } = found
  if (def.type === 'object') objects.push(schema as $ZodObject)
  else if (def.type === 'record') values.push(def.valueType)
  else if (def.type === 'array') elements.push(def.element)
  else if (def.type === 'tuple') elements.push(...def.items, ...(def.rest ? [def.rest] : []))
  else found.open = !CLOSED.has(def.type) && !isPlain(def.type) && !wrappedIn(schema)
}

/** The types of schemas that allow no container themselves. */
const CLOSED: ReadonlySet<string> = new Set([
  ...['pipe', 'union', 'intersection'],
  ...['literal', 'null', 'undefined', 'void', 'never', 'success'],
])
