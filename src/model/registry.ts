/** The models of this process by name, for references to models that an app neither mounts nor reads. */

import type { Model } from './model.ts'

const defined = new Map<string, Model>()

/** Remembers a model; the last one defined under a name wins. */
export function remember(model: Model): void {
  defined.set(model.name, model)
}

/** The names of all models that have been defined. */
export function definedNames(): Iterable<string> {
  return defined.keys()
}

/** The model last defined under `name`. An app looks among its own models first. */
export function lastDefined(name: string): Model | undefined {
  return defined.get(name)
}
