/** The `search` option, resolved: the fields to search, here and through references. */

import { isHidden, type Model } from '../../model/model.ts'
import type { Fail } from '../../model/option-rules.ts'
import { definedNames } from '../../model/registry.ts'
import { didYouMean, noSuchField } from '../../model/suggest.ts'
import { placeOf } from '../../ports/shape.ts'
import type { Services, StartUp } from '../engine/host.ts'
import type { Models, SearchField } from '../engine/models.ts'

/**
 * Resolves the `search` option. A field that is not a string is a start-up error, here and behind a reference; a dotted
 * name whose first part is neither a reference nor an object is dropped with a warning.
 */
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
      const target = () => host.modelNamed(reference) ?? fail(unknownModel(name, reference))
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

/** The model that the field `field` refers to by one id or a list of them. */
export function referenceAt(model: Model, field: string): string | undefined {
  const shape = placeOf(model.shape, field)?.shape
  return shape?.kind === 'id' ? shape.ref : undefined
}

function checkText(model: Model, path: string, name: string, fail: Fail): void {
  const place = placeOf(model.shape, path)
  if (!place) fail(noSuchField('search', path, model, name))
  if (isHidden(model, path)) fail(`'search' names '${name}', which is hidden`)
  if (place?.shape.kind !== 'string' || place.shape.stored) {
    fail(`'search' names '${name}', which is not a string`)
  }
}

function unknownModel(name: string, reference: string): string {
  return `'search' names '${name}', but no model is named '${reference}'.${didYouMean(reference, definedNames())}`
}
