/** The `expandable` option, resolved: the references that clients may fill in. */

import { isHidden, type Model } from '../../model/model.ts'
import type { Fail } from '../../model/option-rules.ts'
import { noSuchField } from '../../model/suggest.ts'
import { placeOf } from '../../ports/shape.ts'
import type { Host } from '../engine/host.ts'
import type { Models } from '../engine/models.ts'
import { referenceAt } from './search-fields.ts'

/** A reference that clients may expand, and perhaps one inside the records that it leads to. */
export interface Expandable {
  readonly path: string
  readonly inner?: string
}

/** The option `expandable`, by the names that clients use. Throws unless each leads to a model through one or two references. */
export function expandables(
  host: Host,
  model: Model,
  names: readonly string[],
  fail: Fail,
): ReadonlyMap<string, Expandable> {
  return new Map(
    names.map((name) => {
      const found = expandableAt(model, name)
      if (!found) {
        const isField = placeOf(model.shape, name) !== undefined
        fail(isField ? notAReference(name) : noSuchField('expandable', name, model))
        return [name, { path: name }]
      }
      if (isHidden(model, found.path)) fail(`'expandable' names '${name}', which is hidden`)
      host.onReady(() => checkTarget(host, model, name, found.path, fail))
      return [name, found]
    }),
  )
}

/** What `name` expands: the shortest beginning of it that is a reference of `model`, and what comes after that. */
export function expandableAt(model: Model, name: string): Expandable | undefined {
  const keys = name.split('.')
  const ends = keys.map((_, at) => keys.slice(0, at + 1).join('.'))
  const path = ends.find((one) => referenceAt(model, one) !== undefined)
  if (path === undefined || path === name) return path === undefined ? undefined : { path }
  return { path, inner: name.slice(path.length + 1) }
}

function checkTarget(host: Host, model: Model, name: string, path: string, fail: Fail): void {
  const target = targetOf(host, model, path)
  if (!target) {
    fail(`'expandable' names '${name}', but no model is named '${referenceAt(model, path)}'`)
  } else if (name !== path) {
    const inner = name.slice(path.length + 1)
    if (!placeOf(target.shape, inner)) fail(noSuchField('expandable', inner, target, name))
    if (!targetOf(host, target, inner)) fail(notAReference(name))
    if (isHidden(target, inner)) fail(`'expandable' names '${name}', which is hidden`)
  }
}

function notAReference(name: string): string {
  return `'expandable' names '${name}', which is not a reference to a model`
}

/** The model that the reference at `path` leads to. */
export function targetOf(
  host: Pick<Models, 'modelNamed'>,
  model: Model,
  path: string,
): Model | undefined {
  const name = referenceAt(model, path)
  return name === undefined ? undefined : host.modelNamed(name)
}
