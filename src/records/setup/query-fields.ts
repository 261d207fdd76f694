/**
 * What a QUERY of a resource takes, for descriptions of an app.
 *
 * @module
 */

import type { Resource } from './resource.ts'

/** The names of fields that a QUERY body may have, by what they do there. */
export interface QueryFields {
  readonly filter: readonly string[]
  readonly sort: readonly string[]
  readonly search: readonly string[]
  readonly expand: readonly string[]
  readonly by: readonly string[]
  readonly aggregate: readonly string[]
}

/** The fields that a QUERY of `resource` may name. */
export function queryFields(resource: Resource): QueryFields {
  const { filterable, sortable, search, expandable, aggregates } = resource
  return {
    filter: [...filterable],
    sort: [...sortable],
    search: search.map((one) => ('field' in one ? one.field : `${one.reference}.${one.path}`)),
    expand: [...expandable.keys()],
    by: [...aggregates.by.keys()],
    aggregate: [...aggregates.of.keys()],
  }
}
