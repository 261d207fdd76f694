/** Start-up check of references: each must name a defined model. */

import type { Model } from './model.ts'
import { partsIn } from './parts.ts'
import { referenceOf } from './reference.ts'
import { definedNames } from './registry.ts'
import { didYouMean } from './suggest.ts'

/**
 * Checks every reference in `models`, at any depth, and in the models that they lead to. Throws a `TypeError` naming
 * the model, the field and the reference if `modelNamed` does not know it. Call this when every model has been defined.
 */
export function checkReferences(
  models: Iterable<Model>,
  modelNamed: (name: string) => Model | undefined,
): void {
  const found = new Set(models)
  for (const model of found) {
    for (const [field, name] of referencesOf(model)) {
      const target = modelNamed(name)
      if (!target) throw new TypeError(unknownModel(model, field, name))
      found.add(target)
    }
  }
}

/** The references of `model`, each with the path of its field; read once, as models do not change. */
function referencesOf(model: Model): readonly (readonly [field: string, name: string])[] {
  const before = known.get(model)
  if (before) return before
  const references = Object.entries(model.fields).flatMap(([field, schema]) =>
    partsIn(schema, field).parts.flatMap((part) => {
      const name = referenceOf(part.schema)
      return name === undefined ? [] : [[part.path, name] as const]
    }),
  )
  known.set(model, references)
  return references
}

const known = new WeakMap<Model, readonly (readonly [string, string])[]>()

function unknownModel(model: Model, field: string, name: string): string {
  const meant = didYouMean(name, definedNames())
  return `Model '${model.name}': '${field}' refers to '${name}', but no model has that name.${meant || ' Define it, or import the file that does, before the app starts.'}`
}
