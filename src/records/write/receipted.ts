/** What comes with the writes of a request: who does them, for the log of changes, and a receipt. */

import type { ApiRequest } from '../../http/request.ts'
import { RequestAuthor } from '../engine/author.ts'
import type { Receipt } from '../engine/keyed-writes.ts'
import { writingBySteps } from '../engine/stepwise.ts'
import type { Resource } from '../setup/resource.ts'

/** `resource`, whose writes are those of who sends `request`, for the log of changes. */
export function authored(resource: Resource, request: ApiRequest): Resource {
  const engine = resource.engine.as(new RequestAuthor(() => request))
  return engine === resource.engine ? resource : { ...resource, engine }
}

/** `Change-Id` of a response: the position of what the request's write of a record has added to the log of changes. */
export function changeIdOf(
  { author, model }: Pick<Resource['engine'], 'author' | 'model'>,
  id: unknown,
): Record<string, string> {
  return author instanceof RequestAuthor ? author.headers(model.name, id) : {}
}

/** `resource`, each of whose writes is one with the receipt. */
export function receipted(resource: Resource, receipt: Receipt): Resource {
  const { host, engine } = resource
  const integrity = host.integrity.over(host.engine, (steps) => {
    const created = steps.flatMap(({ action }) =>
      'insert' in action ? [String(action.insert._id)] : [],
    )
    return host.integrity.write(steps, { receipt, ids: [created[0] ?? null] })
  })
  const writing = writingBySteps(async (action) => {
    const outcome = await integrity.write([{ engine, action }])
    return 'results' in outcome ? outcome.results[0] : undefined
  })
  const { insert, update, delete: remove } = writing
  const own = engine.over({ ...engine.stored, insert, update, delete: remove }, integrity)
  return { ...resource, engine: own }
}
