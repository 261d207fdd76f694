/** `describe_model`: a model in few words, without what is hidden. */

import { type $ZodType, type $ZodTypes, globalRegistry } from 'zod/v4/core'
import { isHidden, type Model } from '../model/model.ts'
import { partsIn } from '../model/parts.ts'
import { referenceOf } from '../model/reference.ts'
import type { Fields } from '../ports/store.ts'
import { OPERATORS } from '../records/engine/conditions.ts'
import { queryFields, type Served } from '../records/setup/serving.ts'

/** The description that a schema has. */
export function descriptionOf(schema: $ZodType): string | undefined {
  return globalRegistry.get(schema)?.description
}

/** The fields of a model, and what routes take of them. Members that are undefined are not sent. */
export function described({ resource }: Served): Fields {
  return {
    fields: fieldsOf(resource.model),
    query: { ...queryFields(resource), operators: OPERATORS },
    create: [...resource.writable.create],
    update: [...resource.writable.update],
  }
}

/** What zod's schemas and checks say, as far as it can be told. */
interface Settings {
  readonly format?: unknown
  readonly check?: string
  readonly inclusive?: boolean
  readonly value?: unknown
  readonly minimum?: unknown
  readonly maximum?: unknown
}

/** The paths that are shown: the types on each, its limits, and what is said of it. */
function fieldsOf(model: Model): Fields {
  const fields: Record<string, Fields> = {}
  for (const [name, whole] of Object.entries(model.fields)) {
    for (const { schema, path } of partsIn(whole, name).parts) {
      if (!isHidden(model, path)) fields[path] = withPart(fields[path], schema)
    }
  }
  return fields
}

/** What is known of a field, and what one of its schemas adds: `optional` wraps a string, a string is in an array. */
function withPart(known: Fields = {}, schema: $ZodType): Fields {
  const { def, values } = (schema as $ZodTypes)._zod
  const more = { ...known }
  const settings = [def, ...(def.checks ?? []).map(({ _zod }) => _zod.def)] as Settings[]
  for (const { check = '', inclusive, maximum, minimum, value, format } of settings) {
    // `gte` and the like, as in filters; `max_length`, `string_format`.
    const limit = check.replace(/^(.).*_than$/, inclusive ? '$1te' : '$1t')
    more[limit] = maximum ?? minimum ?? value ?? format
  }
  more.type = known.type ? `${known.type} ${def.type}` : def.type
  more.ref ??= referenceOf(schema)
  if (values) more.enum = [...values]
  more.description ??= descriptionOf(schema)
  return more
}
