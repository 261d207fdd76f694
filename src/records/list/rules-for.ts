/** What one request may ask of a list: the router's lists, without the fields that its sender cannot see. */

import type { ApiRequest } from '../../http/request.ts'
import { totalOrder } from '../../ports/filter.ts'
import { isReadable, readableFields } from '../rules/fields-for.ts'
import type { FieldSet, ListRules, Resource } from '../setup/resource.ts'

/** The rules of `resource` for `request`. Fields that it may not see count as not listed, in the default order too. */
export async function rulesFor(
  resource: ListRules & Pick<Resource, 'fieldsFor'>,
  request: ApiRequest,
): Promise<ListRules> {
  const fields = await readableFields(resource, request)
  if (!fields) return resource
  const sees = (path: string) => isReadable(fields, path)
  const seenIn = (names: ReadonlySet<string>) => new Set([...names].filter(sees))
  const seen = (names: FieldSet): FieldSet => ({ has: (name) => sees(name) && names.has(name) })
  const { by, of } = resource.aggregates
  const orderBy = resource.orderBy.filter(({ field }) => sees(field))
  return {
    ...resource,
    query: resource.query.filter(sees),
    equalities: resource.equalities.filter(({ field }) => sees(field)),
    filterable: seenIn(resource.filterable),
    sortable: seenIn(resource.sortable),
    urlFilterable: seen(resource.urlFilterable),
    urlSortable: seen(resource.urlSortable),
    aggregates: {
      by: new Map([...by].filter(([, { field }]) => sees(field))),
      of: new Map([...of].filter(([field]) => sees(field))),
    },
    orderBy,
    order: totalOrder(orderBy),
    search: resource.search.filter((one) => {
      if ('field' in one) return sees(one.field)
      return sees(one.reference) && (one.target() !== resource.model || sees(one.path))
    }),
  }
}
