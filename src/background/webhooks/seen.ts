/** What somebody may see of a record, by the guards, scopes, fields and hooks of a request of theirs that reads it. */

import { AppContext } from '../../app/context.ts'
import { firstResponse, inLists } from '../../app/guards.ts'
import { routedPath, routesOf } from '../../app/route-table.ts'
import { HttpError } from '../../http/errors/errors.ts'
import { actFor } from '../../http/request/given-auth.ts'
import { type ApiRequest, type AuthContext, noQuery } from '../../http/request/request.ts'
import { isResponse } from '../../http/response/respond.ts'
import { isSameContent, matches } from '../../ports/evaluation/evaluate.ts'
import type { LoggedChange } from '../../ports/store/changes.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields, Read } from '../../ports/store/records.ts'
import type { Collection } from '../../ports/store/store.ts'
import { madeOnce } from '../../ports/values/once.ts'
import type { Host } from '../../records/engine/host.ts'
import { comparedOf } from '../../records/engine/known-updates.ts'
import { patternOf } from '../../records/engine/route.ts'
import { readRecord } from '../../records/read/read.ts'
import type { Resource } from '../../records/setup/resource.ts'
import { servedBy } from '../../records/setup/serving.ts'

/** For whom something is sent: a user, the bearer of some headers, or anyone. */
export type Principal =
  | (Partial<AuthContext> & {
      /** Headers that a request of theirs would have, such as an API key. */
      readonly headers?: Readonly<Record<string, string>>
    })
  | null
  | undefined

/** The record after a change, as `principal` may see it; undefined if they see nothing of what has changed, as in its history. */
export async function toldOf(
  host: Host,
  { model, kind, before, after }: LoggedChange,
  principal: Principal,
): Promise<unknown> {
  const seen = (record: Fields | null) => record && seenBy(host, model, record, principal)
  const data = await seen(after ?? before)
  if (data === undefined || kind !== 'updated') return data
  return isSameContent(await seen(before), data) ? undefined : data
}

/** `record`, as the first router shows it that lets `principal` read it; undefined if none does. Rejects if unknown now. */
async function seenBy(
  host: Host,
  model: string,
  record: Fields,
  principal: Principal,
): Promise<unknown> {
  for (const reader of readersOf(host, model)) {
    try {
      const seen = await seenThrough(host, reader, record, principal)
      if (seen !== undefined) return seen
    } catch (error) {
      // The guards refuse, or the record is out of the scope.
      if (!(error instanceof HttpError) || error.status >= 500) throw error
    }
  }
  return undefined
}

async function seenThrough(
  host: Host,
  { resource, path, handler, guards }: ReturnType<typeof readersOf>[number],
  record: Fields,
  principal: Principal,
): Promise<unknown> {
  const id = encodeURIComponent(String(record._id))
  const target = path.replace(':id', () => id)
  const request = requestFor(target, record, principal)
  // A route before it may have rules of its own.
  const place = routedPath(request)
  const first = tableOf(host)()
    .rows('GET', place)
    .find(({ regex }) => regex.test(place))
  if (first?.handler !== handler) return undefined
  const context = new AppContext(host, request, 0, undefined, undefined)
  const refused = await firstResponse(guards, request, context)
  if (isResponse(refused) && refused.status >= 500) throw new Error('a guard failed')
  if (refused !== undefined) return undefined
  const { body } = await readRecord(holding(resource, record), request, context)
  return (JSON.parse(String(body)) as { readonly data: unknown }).data
}

const tableOf = madeOnce((host: Host) => routesOf(host))

/** The routers that let clients read or list records of a model, in the order in which they were mounted. */
function readersOf(host: Host, model: string) {
  return host.mounted.flatMap(({ mount, routes }) => {
    // What is in the path of such a router is not known.
    if (mount.includes(':')) return []
    const serving = routes.flatMap(({ handler, guards, path }) => {
      const { resource, operation } = servedBy(handler) ?? {}
      return resource?.model.name === model ? [{ resource, operation, guards, handler, path }] : []
    })
    const by = (name: string) => serving.find(({ operation }) => operation === name)
    const reader = by('read') ?? by('list')
    if (!reader) return []
    const guards = inLists([...host.guards, ...reader.guards]).prompt
    const path = patternOf(mount, reader)
    // Limits count requests of clients: what is sent to others is none of them.
    return [{ ...reader, path, guards: guards.filter(({ once }) => !once) }]
  })
}

function requestFor(path: string, record: Fields, principal: Principal): ApiRequest {
  const { headers = {}, ...auth } = principal ?? {}
  const request = new Request(`http://localhost${path}`, { headers }) as ApiRequest
  Object.assign(request, { requestId: crypto.randomUUID(), route: '', query: noQuery })
  request.params = { id: String(record._id) }
  if (auth.userId !== undefined) actFor(request, auth as AuthContext)
  return request
}

/** The rules of a router, over a record as it was at some time. */
function holding(resource: Resource, record: Fields): Resource {
  const find = async ({ filter, select }: Read) =>
    matches(filter, record, comparedOf(resource.engine))
      ? [project(structuredClone(record), select)]
      : []
  const stored = { find } as Partial<Collection>
  return { ...resource, engine: { stored } as never }
}
