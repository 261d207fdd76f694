/** From the path's `:id` to the filter that finds the record within the scope. */

import { invalidId } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { idFrom } from '../../model/cast.ts'
import type { Model } from '../../model/model.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'

/** The id in the path, in its stored form; a malformed one is a 400. */
export function requestedId(
  { model }: { readonly model: Pick<Model, 'idType'> },
  request: ApiRequest,
): string {
  const id = idFrom(request.params.id ?? '', model.idType)
  if (id === undefined) throw invalidId()
  return id
}

/** The filter for the record with `id`, if it lies within `scope`: a record out of scope is treated as missing. */
export function within(scope: Filter, id: string): Filter {
  return all([scope, withId(id)])
}
