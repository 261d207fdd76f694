/** The options `expandable` and `search`, resolved: the references that clients may fill in, and the fields that are searched. */

import { definedNames, isHidden, type Model, referenceAt } from '../../model/model.ts'
import type { Fail } from '../../model/option-rules.ts'
import { didYouMean, noSuchField } from '../../model/suggest.ts'
import { placeOf, type Shape } from '../../ports/store/shape.ts'
import type { Host, Services, StartUp } from '../engine/host.ts'
import type { Models, SearchField } from '../engine/models.ts'

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
        return fail(isField ? notAReference(name) : noSuchField('expandable', name, model))
      }
      if (isHidden(model, found.path)) fail(`'expandable' names '${name}', which is hidden`)
      host.onReady(() => checkTarget(host, model, name, found, fail))
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

function checkTarget(host: Host, model: Model, name: string, found: Expandable, fail: Fail): void {
  const { path, inner } = found
  const target =
    targetOf(host, model, path) ??
    fail(`'expandable' names '${name}', but no model is named '${referenceAt(model, path)}'`)
  if (inner === undefined) return
  checkShown(target, 'expandable', inner, fail, name)
  if (!targetOf(host, target, inner)) fail(notAReference(name))
}

function notAReference(name: string): string {
  return `'expandable' names '${name}', which is not a reference to a model`
}

export function targetOf(
  host: Pick<Models, 'modelNamed'>,
  model: Model,
  path: string,
): Model | undefined {
  const name = referenceAt(model, path)
  return name === undefined ? undefined : host.modelNamed(name)
}

/** Resolves `search`. Fails for a field that is no string; a dotted name that leads nowhere is dropped, with a warning. */
export function searchFields(
  host: Models & StartUp & Pick<Services, 'logger'>,
  model: Model,
  mount: string,
  names: readonly string[],
  fail: Fail,
): readonly SearchField[] {
  const fields = names.flatMap((name): SearchField[] => {
    const [head = '', ...rest] = String(name).split('.')
    const reference = referenceAt(model, head)
    if (reference !== undefined && rest.length > 0) {
      if (isHidden(model, head)) fail(`'search' names '${name}', which is hidden`)
      const path = rest.join('.')
      const target = () =>
        host.modelNamed(reference) ??
        fail(
          `'search' names '${name}', but no model is named '${reference}'.${didYouMean(reference, definedNames())}`,
        )
      host.onReady(() => {
        checkText(target(), path, name, fail)
        host.declareSearch(target(), path)
      })
      return [{ reference: head, path, target }]
    }
    if (rest.length > 0 && !placeOf(model.shape, name)) {
      host.logger.warn(
        `Router '${mount}': 'search' ignores '${name}', because '${head}' is not a reference of '${model.name}'.`,
      )
      return []
    }
    checkText(model, name, name, fail)
    host.declareSearch(model, name)
    return [{ field: name }]
  })
  host.declareSearched(model, fields)
  return fields
}

function checkText(model: Model, path: string, name: string, fail: Fail): void {
  const shape = checkShown(model, 'search', path, fail, name)
  if (shape.kind !== 'string' || shape.stored) {
    fail(`'search' names '${name}', which is not a string`)
  }
}

/** The shape at `path`. Refuses what leads nowhere, or to something hidden; `name` is how `option` lists it. */
export function checkShown(
  model: Model,
  option: string,
  path: string,
  fail: Fail,
  name: string = path,
): Shape {
  const place = placeOf(model.shape, path) ?? fail(noSuchField(option, path, model, name))
  if (isHidden(model, path)) fail(`'${option}' names '${name}', which is hidden`)
  return place.shape
}
