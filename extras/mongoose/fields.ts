/** The paths of a schema as members of objects: nested paths, subdocuments and the kinds that share a collection. */

import {
  _default,
  catchall,
  lazy,
  nullable,
  nullish,
  object,
  optional,
  type ZodMiniType,
} from 'zod/mini'
import type { $ZodCheck } from 'zod/v4/core'
import { marked } from '../../src/model/shape/stored.ts'
import { idMaker } from '../../src/model/values/cast.ts'
import { defaultOf, type MakeDefault } from './defaults.ts'
import { inOrder } from './in-order.ts'
import { isPlace } from './indexes.ts'
import { kindRule, kindSchema } from './kinds.ts'
import { reportPath, reportSchema } from './left-out.ts'
import { demanding } from './messages.ts'
import { kindsOf, type SchemaParts, type SchemaType, typeKeyOf, versionKeyOf } from './structure.ts'
import { clockOf, isTime, reportTime } from './times.ts'
import {
  type Around,
  anything,
  demandedOf,
  demandingOne,
  isConditional,
  isDemanded,
  objectId,
  type Reading,
  valuesOf,
} from './values.ts'

/** The members of an object, by name. */
export type Members = Record<string, ZodMiniType>

/** A member, and how it may be absent. */
interface Member {
  readonly values: ZodMiniType
  readonly makeDefault: MakeDefault | undefined
  readonly isRequired: boolean
  /** Whether null is a value that Mongoose stores there, or refuses if one is required. Elsewhere it is none. */
  readonly takesNull: boolean
  /** The rule that refuses null. */
  readonly demand?: $ZodCheck<unknown>
}

const newId = idMaker(() => Date.now())

/** The members that the server keeps at the top of a record, and that a subdocument has of its own. */
const KEPT = new Set(['_id', 'createdAt', 'updatedAt'])

/** A subdocument: its `_id` stays, and is made for a new one. */
export function subdocument(schema: SchemaParts, path: string, reading: Reading): ZodMiniType {
  const outer = reading.around.get(schema)
  if (outer) {
    reading.loops.push({ path, around: outer.path })
    return lazy(() => outer.made as ZodMiniType)
  }
  const own: Around = { path }
  reading.around.set(schema, own)
  own.made = newSubdocument(schema, path, { ...reading, typeKey: typeKeyOf(schema) })
  reading.around.delete(schema)
  return own.made
}

function newSubdocument(schema: SchemaParts, path: string, reading: Reading): ZodMiniType {
  reportSchema(schema, path, reading.report)
  const members = membersOf(schema, path, reading)
  const isOpen = schema.options.strict === false
  const rule = kindRule(schema)
  const whole = isOpen ? catchall(object(members), anything()) : object(members)
  return inOrder(rule ? whole.check(rule) : whole)
}

/** The members of a schema, those of its kinds among them, except `without`. */
export function membersOf(
  schema: SchemaParts,
  path: string,
  reading: Reading,
  without: ReadonlySet<string> = new Set(),
): Members {
  const key = kindSchema(schema, path, reading.report)
  const others = new Set([...without, ...Object.keys(key ?? {}), versionKeyOf(schema) ?? '__v'])
  const own = Object.keys(schema.paths).filter((name) => !isLeftOut(name, others))
  const members = membersUnder('', own, schema, path, reading)
  const kinds = kindsOf(schema)
  for (const [kind, parts] of kinds) {
    reportSchema(parts, path, reading.report)
    const its = Object.keys(parts.paths).filter(
      (name) => !isLeftOut(name, others) && !Object.hasOwn(schema.paths, name),
    )
    for (const [name, member] of Object.entries(membersUnder('', its, parts, path, reading))) {
      if (Object.hasOwn(members, name)) {
        reading.report.add(
          joined(path, name),
          'discriminator',
          `declared by several kinds: that of '${kind}' is one of several types here, and any JSON value is taken. Use a \`validate\` hook`,
          true,
        )
        members[name] = nullish(anything())
      } else members[name] = optional(member)
    }
  }
  return key ? { ...members, ...key } : members
}

/** Whether a path is none of a record: a version key, the values of a map, and what the caller leaves out. */
function isLeftOut(name: string, without: ReadonlySet<string>): boolean {
  return name === '__v' || name.includes('.$*') || without.has(name)
}

/** The members of the object at `prefix`, which is `''` or ends with a dot. */
function membersUnder(
  prefix: string,
  names: readonly string[],
  schema: SchemaParts,
  path: string,
  reading: Reading,
): Members {
  const inside = names.filter((name) => name.startsWith(prefix))
  const keys = new Set(inside.map((name) => name.slice(prefix.length).split('.')[0] as string))
  return Object.fromEntries(
    [...keys].map((key) => {
      const full = `${prefix}${key}`
      const at = joined(path, full)
      const member = names.includes(full)
        ? memberOf(schema, full, at, reading)
        : nestedMember(membersUnder(`${full}.`, names, schema, path, reading))
      const made = absenceOf(member)
      return [key, isKeptAt(at, key) ? marked(made, 'kept') : made]
    }),
  )
}

function isKeptAt(path: string, key: string): boolean {
  return path.includes('.') && KEPT.has(key)
}

/** `path` of a member of what is at `around`. */
export function joined(around: string, path: string): string {
  return around === '' ? path : `${around}.${path}`
}

function memberOf(schema: SchemaParts, name: string, path: string, reading: Reading): Member {
  const type = schema.paths[name] as SchemaType
  if (type.options.auto && type.instance.startsWith('ObjectI')) {
    return required(objectId(), () => newId('objectId'))
  }
  const values = demanding(demandedOf(type, path, valuesOf(type, path, reading)), type, path)
  if (type.options.select === false) reading.hidden.push(path)
  if (isTime(schema, name)) {
    reportTime(schema, name, path, reading)
    return required(values, clockOf(schema, type))
  }
  reportPath(type, path, reading)
  if (isConditional(type)) {
    reading.report.add(
      path,
      'required',
      'a function decides: the path is optional. Use a `validate` hook',
      true,
    )
  }
  return {
    values,
    makeDefault: defaultOf(type, values, path, reading.report, isPlace(schema, name)),
    isRequired: isDemanded(type),
    takesNull: true,
    demand: demandingOne(type, path),
  }
}

function required(values: ZodMiniType, makeDefault: MakeDefault): Member {
  return { values, makeDefault, isRequired: true, takesNull: false }
}

/** Paths inside a nested one are paths of the same document: what they demand, the document demands. */
function nestedMember(members: Members): Member {
  const values = inOrder(object(members))
  const isRequired = Object.values(members).some((member) => member._zod.optin === undefined)
  const makesSome = Object.values(members).some((member) => member._zod.def.type === 'default')
  const makeDefault = makesSome && !isRequired ? () => filledIn(members) : undefined
  return { values, makeDefault, isRequired, takesNull: false }
}

/** The defaults of an object without members. */
function filledIn(members: Members): unknown {
  const made = Object.entries(members).flatMap(([name, { _zod }]) => {
    const def = _zod.def as { type: string; defaultValue?: unknown }
    return def.type === 'default' ? [[name, def.defaultValue] as const] : []
  })
  return Object.fromEntries(made)
}

function absenceOf({ values, makeDefault, isRequired, takesNull, demand }: Member): ZodMiniType {
  if (makeDefault) {
    const given = takesNull ? nullable(values) : values
    // Without the rule, null would be left out, and the default be stored.
    const demanded = isRequired && demand ? given.check(demand) : given
    return _default(demanded, makeDefault as never)
  }
  if (isRequired) return values
  return takesNull ? nullish(values) : optional(values)
}
