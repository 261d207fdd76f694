/** What the typed client says of the times of records. Nothing runs: the file compiles. */

import { expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import type { Shown } from '../../src/client/index.ts'
import { defineModel, type Model, type ServedRecords } from '../../src/index.ts'

test('records have the times that their model keeps, whatever it calls them', () => {
  const fields = { name: z.string() }
  const models = {
    both: defineModel('TypedBoth', { fields, timestamps: true }),
    own: defineModel('TypedOwn', { fields, timestamps: { createdAt: 'made', updatedAt: false } }),
    one: defineModel('TypedOne', { fields, timestamps: { updatedAt: false } }),
    hidden: defineModel('TypedHidden', { fields, timestamps: true, hidden: ['createdAt'] }),
    some: defineModel('TypedSome', { fields, timestamps: true as boolean }),
    none: defineModel('TypedNone', { fields }),
  }
  type TimeOf<M, Name> =
    M extends Model<infer R, infer I, infer H>
      ? Name extends keyof Shown<ServedRecords<R, I, H, unknown>>
        ? Shown<ServedRecords<R, I, H, unknown>>[Name]
        : never
      : never
  type Times = {
    [K in keyof typeof models]: {
      [Name in 'createdAt' | 'updatedAt' | 'made']: TimeOf<(typeof models)[K], Name>
    }
  }
  type Maybe = string | undefined
  expectTypeOf<Times>().toEqualTypeOf<{
    both: { createdAt: string; updatedAt: string; made: never }
    own: { createdAt: Maybe; updatedAt: Maybe; made: string }
    one: { createdAt: string; updatedAt: Maybe; made: never }
    hidden: { createdAt: Maybe; updatedAt: string; made: never }
    some: { createdAt: Maybe; updatedAt: Maybe; made: never }
    none: { createdAt: Maybe; updatedAt: Maybe; made: never }
  }>()
})
