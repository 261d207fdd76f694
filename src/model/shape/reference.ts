/** `ref()`: a field that holds the id of a record of another model. */

import { nullable, nullish, optional, refine, string, type ZodMiniString } from 'zod/mini'
import type { $ZodNullable, $ZodOptional, $ZodString, $ZodType } from 'zod/v4/core'
import { madeOnce } from '../../ports/values/once.ts'
import { definedNames, lastDefined, type Model } from '../model.ts'
import { checkOptions, oneOf } from '../option-rules.ts'
import { partsIn } from '../parts.ts'
import { didYouMean } from '../suggest.ts'
import { idFrom } from '../values/cast.ts'

/**
 * What deleting a record does to the records that refer to it: `restrict` refuses, `cascade` deletes them too, `unset`
 * removes the reference from them.
 */
export type OnDelete = 'restrict' | 'cascade' | 'unset'

/** Options of `ref`. */
export interface ReferenceOptions {
  /**
   * Enforces the reference: the record must exist when it is written, and this is what happens when it is deleted.
   * `unset` needs an optional or nullable field, or a list of references. Default: the reference is not enforced.
   */
  readonly onDelete?: OnDelete
}

/** The schema that `ref()` returns; use and wrap it like any other zod field. */
export interface Reference extends $ZodString<string> {
  /** The reference may be absent. */
  optional(): $ZodOptional<Reference>
  /** The reference may be null. */
  nullable(): $ZodNullable<Reference>
  /** The reference may be absent or null. */
  nullish(): $ZodOptional<$ZodNullable<Reference>>
}

/**
 * A field that stores the id of a record of the model named `model`. `onGet` may populate it, and a search may look
 * through it (`'country.name'`). Without `onDelete`, fieldgate does not check that the record exists. The referenced
 * model may be defined later, but the app refuses to start if no model has that name.
 *
 * ```ts
 * const City = defineModel('City', { fields: { name: z.string(), country: ref('Country') } })
 * const Street = defineModel('Street', { fields: { city: ref('City', { onDelete: 'cascade' }) } })
 * ```
 */
export function ref(model: string, options: ReferenceOptions = {}): Reference {
  if (typeof model !== 'string' || model === '') {
    throw new TypeError(`ref() takes the name of a model, as in ref('Country')`)
  }
  checkOptions(options, RULES, `ref('${model}')`)
  // The target may be defined after the reference, so its id format is looked up when needed.
  const isId = (id: string) => idFrom(id, referredModel(schema)?.idType ?? 'objectId') !== undefined
  const message = 'Invalid ID format.'
  const schema: ZodMiniString<string> = string().check(refine(isId, message))
  // The name is in the definition, which zod copies when it clones a schema.
  Object.assign(schema._zod.def, { reference: model, leads: {}, onDelete: options.onDelete })
  return Object.assign(schema as ZodMiniString<string> & Reference, {
    optional: () => optional(schema) as unknown as $ZodOptional<Reference>,
    nullable: () => nullable(schema) as unknown as $ZodNullable<Reference>,
    nullish: () => nullish(schema) as unknown as $ZodOptional<$ZodNullable<Reference>>,
  })
}

const RULES = { onDelete: oneOf('restrict', 'cascade', 'unset') }

/** The model that a `ref()` schema names, or undefined for any other schema. */
export function referenceOf(schema: $ZodType): string | undefined {
  return (schema._zod.def as { reference?: string }).reference
}

/** What a reference leads to: the model of the app that it has started with, whichever others get the name. */
interface Leading {
  readonly reference?: string
  readonly leads?: { to?: Model }
}

/** The model that a `ref()` schema leads to, if it is defined yet. */
export function referredModel(schema: $ZodType): Model | undefined {
  const { reference = '', leads } = schema._zod.def as Leading
  return leads?.to ?? lastDefined(reference)
}

export function onDeleteOf(schema: $ZodType): OnDelete | undefined {
  return (schema._zod.def as { onDelete?: OnDelete }).onDelete
}

/**
 * Once all models are defined: leads each reference, at any depth, to the model that `modelNamed` knows. Throws a
 * `TypeError` if it knows none.
 */
export function checkReferences(
  models: Iterable<Model>,
  modelNamed: (name: string) => Model | undefined,
): void {
  const found = new Set(models)
  for (const model of found) {
    for (const [field, name, { leads }] of referencesOf(model)) {
      const target = modelNamed(name)
      if (!target) throw new TypeError(unknownModel(model, field, name))
      if (leads) leads.to = target
      found.add(target)
    }
  }
}

/** The references of a model, each with the path of its field; read once, as models do not change. */
export const referencesOf: (
  model: Model,
) => readonly (readonly [field: string, name: string, Leading])[] = /* @__PURE__ */ madeOnce(
  (model) =>
    Object.entries(model.fields).flatMap(([field, schema]) =>
      partsIn(schema, field).parts.flatMap((part) => {
        const name = referenceOf(part.schema)
        return name === undefined
          ? []
          : [[part.path, name, part.schema._zod.def as Leading] as const]
      }),
    ),
)

function unknownModel(model: Model, field: string, name: string): string {
  const meant = didYouMean(name, definedNames())
  return `Model '${model.name}': '${field}' refers to '${name}', but no model has that name.${meant || ' Define it, or import the file that does, before the app starts.'}`
}
