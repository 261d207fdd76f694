import { post } from '#outbound'
import type { App } from '../../app/app.ts'
import * as rule from '../../model/option-rules.ts'
import { checkOptions, type Fail, failAs, type Rule } from '../../model/option-rules.ts'
import { insertOnce } from '../../model/own-records.ts'
import type { LoggedChange } from '../../ports/store/changes.ts'
import { is } from '../../ports/store/filter.ts'
import { type Host, hostOf } from '../../records/engine/host.ts'
import { addConsumer, asReturned, type RecordChange } from '../changes/consume.ts'
import { originOf } from '../changes/tries.ts'
import { idOf, workSchema } from '../lease.ts'
import { isOwnHost, isPublicAddress } from './addresses.ts'
import { checkEndpoint, checkModels, takes, type WebhookEndpoint } from './endpoints.ts'
import { type Principal, toldOf } from './seen.ts'
import { signedHeaders } from './signature.ts'

/** Options of `webhooks`. */
export interface WebhookOptions {
  /**
   * Where webhooks are sent, or a function that returns it for a change. The function is asked again at each try, so an
   * endpoint that it no longer returns gets nothing.
   */
  readonly endpoints:
    | readonly WebhookEndpoint[]
    | ((change: RecordChange) => readonly WebhookEndpoint[] | Promise<readonly WebhookEndpoint[]>)
  /**
   * For whom the data of a change is: it has what a request of theirs would see of the record, by the rules of the first
   * router that shows it. If that is nothing, nothing is sent. Default: what anyone may see.
   */
  readonly as?: (change: RecordChange) => Principal | Promise<Principal>
  /**
   * Whether endpoints may be in private networks and on this machine. Default false. Set it only if nobody but you chooses
   * the endpoints.
   */
  readonly allowPrivate?: boolean
  /** The name under which the progress is kept. Default `webhooks`; needed if an app calls `webhooks` twice. */
  readonly name?: string
  /** Where webhooks begin: as for `consume`. Default `now`. */
  readonly from?: 'now' | 'start'
  /** How many webhooks are sent at the same time. Default 10. */
  readonly concurrency?: number
}

const RULES: Readonly<Record<keyof WebhookOptions, Rule>> = {
  endpoints: rule.whatever,
  as: rule.callable,
  allowPrivate: rule.flag,
  name: { must: 'be a string', test: (value) => typeof value === 'string' && value !== '' },
  from: rule.oneOf('now', 'start'),
  concurrency: rule.natural,
}

/** How long an endpoint may take to respond, in milliseconds. */
const TIMEOUT_MS = 15_000
/** How long a webhook is tried, in milliseconds. */
const GIVE_UP_MS = 3 * 86_400_000

/**
 * Sends a webhook for each change of records: at least once, in order for each record, signed by Standard Webhooks 1.0.0.
 * A response other than 2xx within 15 s is a failure. What has failed is sent again after 1 s, then after longer and longer
 * pauses of up to an hour, and is set aside after three days: `fieldgate changes` lists it, and `--retry` sends it again. An
 * endpoint that responds with 410 gets nothing any more. Redirects are not followed. `serve` sends them, and on Workers the
 * `scheduled` of `worker`. Throws a `TypeError` if an option makes no sense.
 *
 * ```ts
 * import { webhooks } from 'fieldgate/webhooks'
 * webhooks(app, { endpoints: [{ url: 'https://example.com/hooks', secret, kinds: ['created'] }] })
 * ```
 */
export function webhooks(app: App, options: WebhookOptions): void {
  const host = hostOf(app?.store, 'webhooks(app, …)')
  const { name = 'webhooks' } = options ?? {}
  const fail: Fail = failAs(name)
  checkOptions(options, RULES, fail)
  const { endpoints, from = 'now', concurrency = 10 } = options
  const listed = typeof endpoints === 'function' ? [] : endpoints
  if (!Array.isArray(listed)) fail(`'endpoints' must be a list, or a function`)
  for (const one of listed) checkEndpoint(one, fail)
  const logged = () => [...host.known()].filter(({ changes }) => changes)
  host.onReady(() => checkModels(listed, logged(), fail))
  const gone = goneEndpoints(host, name)
  const shown = (change: LoggedChange) => asReturned(host, change)
  const endpointsOf = async (change: LoggedChange): Promise<readonly WebhookEndpoint[]> => {
    const all = typeof endpoints === 'function' ? await endpoints(shown(change)) : endpoints
    if (!Array.isArray(all)) throw new TypeError(`${name}: 'endpoints' must return a list`)
    return all.filter((one) => takes(one, change))
  }
  addConsumer(host, fail, {
    ...{ name, from, concurrency, retried: gone.clear, gone: gone.all },
    models() {
      const isTaken = (name: string) =>
        typeof endpoints === 'function' || listed.some((one) => one.models?.includes(name) ?? true)
      return logged()
        .map(({ name }) => name)
        .filter(isTaken)
    },
    isOver: (_, since) => host.now() - since.getTime() >= GIVE_UP_MS,
    async receiversOf(change) {
      const all = (await endpointsOf(change)).map(({ url }) => url)
      const left = await Promise.all(all.map(async (url) => ((await gone.has(url)) ? [] : [url])))
      return [...new Set(left.flat())]
    },
    async deliver(change, to, { signal }) {
      const endpoint = (await endpointsOf(change)).find(({ url }) => url === to)
      if (!endpoint || (await gone.has(to))) return
      checkEndpoint(endpoint, fail)
      const principal = await options.as?.(shown(change))
      const data = await toldOf(host, change, principal)
      if (data === undefined) return
      const status = await send(endpoint, change, data, signal, options.allowPrivate === true)
      if (status === 410) return gone.add(to)
      if (status < 200 || status > 299) throw new Error(`the endpoint responded with ${status}`)
    },
  })
}

/** Sends a webhook and resolves to the status of the response. */
async function send(
  { url, secret }: WebhookEndpoint,
  change: LoggedChange,
  data: unknown,
  signal: AbortSignal,
  isFree: boolean,
): Promise<number> {
  const target = new URL(url)
  // Where there is no look at the addresses that a name leads to, this is what can be refused.
  if (!isFree && isOwnHost(target.hostname)) {
    throw new Error(`'${target.hostname}' leads to an address that is not public`)
  }
  const { id, model, kind, at } = change
  const type = `${model.charAt(0).toLowerCase()}${model.slice(1)}.${kind}`
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data })
  const seconds = Math.floor(Date.now() / 1000)
  return post(target, {
    headers: signedHeaders(secret, `msg_${id}`, seconds, body),
    ...{ body, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) },
    mayConnect: isFree ? undefined : isPublicAddress,
  })
}

/** How long what is known is used, in milliseconds. */
const KNOWN_MS = 5000
const MOST = 10_000

/** The endpoints that are gone of the webhooks with this name. */
function goneEndpoints(host: Host, name: string) {
  const records = host.collection(workSchema)
  const filter = is('name', `gone ${name}`)
  let known: { readonly at: number; readonly urls: Promise<ReadonlySet<string>> } | undefined
  const read = async () => {
    const found = await records.find({ filter, sort: [], limit: MOST })
    return new Set(found.map(({ position }) => String(position)))
  }
  return {
    async has(url: string): Promise<boolean> {
      if (!known || performance.now() - known.at > KNOWN_MS) {
        known = { at: performance.now(), urls: read() }
        known.urls.catch(() => {
          known = undefined
        })
      }
      return (await known.urls).has(url)
    },
    async add(url: string): Promise<void> {
      const until = new Date(host.now())
      const _id = idOf('gone', name, url)
      await insertOnce(records, { _id, name: `gone ${name}`, owner: '', until, position: url })
      known = undefined
      host.logger.error(
        `${name}: an endpoint has responded with 410, and gets nothing any more. 'fieldgate changes --retry ${name}' ends this`,
        { to: originOf(url) },
      )
    },
    all: async () => [...(await read())],
    async clear(): Promise<void> {
      while ((await records.delete(filter)) !== null);
      known = undefined
    },
  }
}
