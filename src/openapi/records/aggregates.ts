/** Aggregates: what a QUERY body may ask for, and its groups. */

import * as refuse from '../../http/errors/refusals.ts'
import { FIELD_MEASURES, isMeasureOf, MAX_GROUP_KEYS } from '../../records/engine/aggregate-plan.ts'
import type { Resource } from '../../records/setup/resource.ts'
import { valueSchema } from '../schemas/filter-schema.ts'
import { object, orNull, partsOf, TEXT } from '../schemas/schemas.ts'
import { pageOf } from '../schemas/shown.ts'
import type { Schema } from '../specification.ts'
import type { Described } from './choice-parameters.ts'

type Aggregating = Pick<Resource, 'aggregates' | 'model'>

/** `aggregate` in a QUERY body. */
export function aggregateKey({ aggregates: { of } }: Aggregating): Described {
  const measures = FIELD_MEASURES.flatMap((op) => {
    const names = [...of].flatMap(([name, kind]) => (isMeasureOf(op, kind) ? [name] : []))
    return names.length > 0 ? [[op, listOf(names)] as const] : []
  })
  return {
    schema: {
      ...partsOf({ count: { type: 'boolean' }, ...Object.fromEntries(measures) }),
      minProperties: 1,
    },
    description:
      'What to compute of the records, or of each group: the response has groups instead of records. Not with pages.',
    refusals: [
      refuse.aggregateNotObject(),
      refuse.aggregateEmpty(),
      refuse.unknownMeasure('<key>', ['count', ...FIELD_MEASURES]),
      refuse.countNotBoolean(),
      refuse.measuredNotList('<measure>'),
      refuse.notAggregatable('<field>'),
      refuse.aggregateExcludes('<key>'),
      ...([...of.values()].includes('date') ? [refuse.aggregateOnDate('<field>')] : []),
    ],
  }
}

/** `by` in a QUERY body. */
export function byKey({ aggregates: { by } }: Aggregating): Described {
  const names = [...by.keys()]
  return {
    schema: names.length > 0 ? { ...listOf(names), maxItems: MAX_GROUP_KEYS } : undefined,
    description: 'What `aggregate` groups records by; dates in UTC.',
    refusals: [
      refuse.groupsAlone(),
      refuse.groupsNotList(MAX_GROUP_KEYS),
      refuse.notGroupable('<field>'),
    ],
  }
}

/** What groups may be sorted by, beyond what records may be. */
export function groupSorts({ aggregates: { by, of } }: Aggregating): readonly string[] {
  const measures = [...of].flatMap(([name, kind]) =>
    FIELD_MEASURES.filter((op) => isMeasureOf(op, kind)).map((op) => `${op}.${name}`),
  )
  return ['count', ...measures, ...by.keys()]
}

export function groupsSchema({ aggregates: { by, of }, model }: Aggregating): Schema {
  const keys = [...by].map(([name, { field, part }]) => {
    return [name, orNull(part ? TEXT : valueSchema(model.shape, field))] as const
  })
  const measures = FIELD_MEASURES.flatMap((op) => {
    const fields = [...of].flatMap(([name, kind]) => {
      if (!isMeasureOf(op, kind)) return []
      const isSame = op === 'min' || op === 'max'
      return [[name, orNull(isSame ? valueSchema(model.shape, name) : { type: 'number' })] as const]
    })
    return fields.length > 0 ? [[op, partsOf(Object.fromEntries(fields))] as const] : []
  })
  const members = { count: { type: 'integer', minimum: 0 }, ...Object.fromEntries(measures) }
  const pagination = object({
    hasMore: { type: 'boolean', description: 'Whether there are more groups than `limit`.' },
  })
  return pageOf(partsOf({ ...Object.fromEntries(keys), ...members }), pagination)
}

function listOf(names: readonly string[]): Schema {
  return { type: 'array', items: { type: 'string', enum: names } }
}
