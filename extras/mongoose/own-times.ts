/** Fields that are named like the server's times and are none: a `createdAt` that is a number. */

import type { $ZodObject } from 'zod/v4/core'
import { type Model, timestampFields, timestampsOf } from '../../src/model/model.ts'
import { objectShape } from '../../src/model/shape/shape.ts'
import { absences } from '../../src/model/values/absence.ts'
import { refinementsOf } from '../../src/model/values/refinements.ts'
import { declaredRecord } from '../../src/model/versions/declared.ts'
import type { ObjectShape, Shape } from '../../src/ports/store/shape.ts'
import type { Members } from './fields.ts'
import type { Times } from './times.ts'

const TIMES = ['createdAt', 'updatedAt'] as const

/** The members that have the name of a time which the model does not keep. */
export function ownTimes(members: Members, times: Times): readonly (keyof Times)[] {
  return TIMES.filter((time) => times[time] === false && Object.hasOwn(members, time))
}

/** `times`, and `own` among them: `defineModel` takes no field of such a name, but it checks these paths too. */
export function timesWith(own: readonly (keyof Times)[], times: Times): Times {
  return { ...times, ...Object.fromEntries(own.map((time) => [time, time])) }
}

/** `model` with the fields of `schema`, which may have the names of times, and with no more than `times`. */
export function withOwnTimes(model: Model, schema: $ZodObject, times: Times): Model {
  const fields = schema._zod.def.shape
  const timestamps = timestampsOf(times)
  const managed = ['_id', ...timestampFields(timestamps)]
  return {
    ...model,
    schema,
    fields,
    timestamps,
    refinements: refinementsOf(schema),
    shape: recordShape(objectShape(fields, 'output'), times, model.idType),
    declared: declaredRecord(schema, managed),
    absence: absences(fields, managed),
    input: objectShape(fields, 'input'),
  }
}

/** The shape of a record: `fields`, and what the server keeps. */
export function recordShape(
  { fields, ...shape }: ObjectShape,
  times: Times,
  idType: Model['idType'],
): ObjectShape {
  const names = Object.values(times).filter((name) => name !== false)
  const kept = names.map((name) => [name, { kind: 'date' }] as const)
  const id = ['_id', { kind: 'id', idType }] as const
  return { ...shape, fields: new Map<string, Shape>([id, ...fields, ...kept]) }
}
