/**
 * `GET /users`: a list like those of resource routers, for admins.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { setQuery } from '../../http/shield.ts'
import type { Fields } from '../../ports/store.ts'
import type { Handler } from '../../records/engine/route.ts'
import { cursors } from '../../records/list/cursor.ts'
import { listHandler } from '../../records/list/list.ts'
import type { RouterOptions } from '../../records/setup/options.ts'
import { resolveResource } from '../../records/setup/resource.ts'
import { serving } from '../../records/setup/serving.ts'
import type { AuthInstance } from '../instance.ts'
import { SECRETS } from '../setup/field-names.ts'

/** Responds with lists of users, newest first; identifiers and role are equality filters. */
export function usersLister({ settings, names, host, mount }: AuthInstance): Handler {
  const { model, identifiers } = settings
  const filters = [...new Set([...identifiers.map(({ field }) => field), names.role])]
  const options: RouterOptions<Fields> = {
    ...settings.list,
    model,
    orderBy: [`-${model.timestamps.createdAt ?? '_id'}`, '-_id'],
    query: filters,
    sortableFields: [],
    // A list writes nothing.
    allowedFields: [],
    enableQuery: false,
  }
  const resource = resolveResource(host, mount, options)
  const secrets = SECRETS.map((name) => names[name]).filter((field) =>
    model.shape.fields.has(field),
  )
  const hidden = [...new Set([...model.hidden, ...secrets])]
  const shown = { ...resource, model: { ...model, hidden } }
  const list = listHandler(shown, cursors(host.secret))
  return serving(shown, 'list', (request, context) => {
    setQuery(request, withNormalForms(request.query))
    return list(request, context)
  })

  /** An identifier finds the account however it is typed. */
  function withNormalForms(query: ApiRequest['query']): ApiRequest['query'] {
    const copy = Object.assign(Object.create(null), query)
    for (const { field, normalize } of identifiers) {
      const value: string | string[] | undefined = copy[field]
      const normal = (text: string) => normalize(text) ?? text
      if (value !== undefined)
        copy[field] = Array.isArray(value) ? value.map(normal) : normal(value)
    }
    return copy
  }
}
