/**
 * The models of methods.
 *
 * @module
 */

import { defineModel, type ModelDefinition } from '../model/define.ts'
import type { FieldSchemas, Model } from '../model/model.ts'

const known = new WeakMap<Model, Map<string, Model>>()

/**
 * A model for what a method keeps of the accounts of `user`: `UserToken` for the name `Token`. All auth routers of one user
 * model share it.
 */
export function methodModel<const S extends FieldSchemas>(
  user: Model,
  name: string,
  definition: ModelDefinition<S>,
): Model {
  const models = known.get(user) ?? new Map<string, Model>()
  known.set(user, models)
  const own =
    models.get(name) ?? (defineModel(`${user.name}${name}`, definition) as unknown as Model)
  models.set(name, own)
  return own
}
