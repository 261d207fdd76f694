/** `GET /healthz` and `GET /readyz`: whether the process is alive, and whether it can serve requests. */

import { causeOf, outageLog } from '../http/errors/outages.ts'
import { checkOptions, natural } from '../model/option-rules.ts'
import { withTimeout } from '../ports/promises/with-timeout.ts'
import type { FileStore } from '../ports/services/files.ts'
import { idsOf } from '../ports/services/logger.ts'
import { everything } from '../ports/store/filter.ts'
import type { Host, Mountable } from '../records/engine/host.ts'
import type { Handler, Route } from '../records/engine/route.ts'

/** Options of `health`. */
export interface HealthOptions {
  /** How long each check of `/readyz` may take, in milliseconds. Default 800, because Kubernetes waits for 1 s. */
  readonly deadlineMs?: number
}

type Status = 'ok' | 'unavailable'
/** Checks something that the app depends on; rejects if it cannot be used. */
type Check = (signal: AbortSignal) => Promise<unknown>

const DEADLINE_MS = 800

/**
 * Routes for the probes of load balancers and orchestrators. They respond even before start-up has succeeded, and
 * before the guards of `app.use`.
 *
 * ```ts
 * app.mount('/', health())
 * ```
 */
export function health(options: HealthOptions = {}): Mountable {
  checkOptions(options, { deadlineMs: natural }, 'health')
  const { deadlineMs = DEADLINE_MS } = options
  return {
    early: true,
    attach: (host) => [
      route('/healthz', 'Whether the process is alive', async () => statusResponse('ok')),
      route('/readyz', 'Whether requests can be served', readiness(host, deadlineMs)),
    ],
  }
}

function route(path: string, summary: string, handler: Handler): Route {
  return { method: 'GET', path, guards: [], handler, about: { summary } }
}

function readiness(host: Host, deadlineMs: number): Handler {
  const checks = checksOf(host)
  const leftOut = outageLog()
  return async (request, context) => {
    const { logger } = context
    host.ready(context).catch(() => {})
    const statusOf = async (name: string, check: Check): Promise<[string, Status]> => {
      try {
        const late = () => new Error(`the ${name} did not respond within ${deadlineMs} ms`)
        await withTimeout(deadlineMs, () => check(AbortSignal.timeout(deadlineMs)), late)
        return [name, 'ok']
      } catch (error) {
        if (leftOut(error) !== undefined) {
          logger.error('not ready', { ...idsOf(request), check: name, error: causeOf(error) })
        }
        return [name, 'unavailable']
      }
    }
    const all = Object.entries(checks).map(([name, check]) => statusOf(name, check))
    const statuses = Object.fromEntries(await Promise.all(all))
    const isReady = Object.values(statuses).every((status) => status === 'ok')
    return statusResponse(isReady ? 'ok' : 'unavailable', statuses)
  }
}

/** The checks of the services that the app is configured with. */
function checksOf(host: Host): Readonly<Record<string, Check>> {
  const { cache, files } = host
  return {
    store: () => reachStore(host),
    ...(cache && { cache: () => cache.get(ABSENT) }),
    ...(files && { files: (signal: AbortSignal) => reachFiles(files, signal) }),
  }
}

/** A key that is never set. */
const ABSENT = 'fieldgate-ready'

/** Reads one id, as requests would, once the app has started. An app without models has nothing to read. */
async function reachStore(host: Host): Promise<void> {
  await host.ready()
  const [schema] = host.schemas()
  if (!schema) return host.database.prepare([])
  const read = { filter: everything, sort: [], limit: 1, select: { include: ['_id'] } }
  await host.database.collection(schema).find(read)
}

async function reachFiles(files: FileStore, signal: AbortSignal): Promise<void> {
  if (files.ping) return files.ping({ signal })
  for await (const _ of files.list(`${ABSENT}/`)) return
}

function statusResponse(status: Status, checks?: Readonly<Record<string, Status>>): Response {
  return new Response(JSON.stringify({ status, checks }), {
    status: status === 'ok' ? 200 : 503,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' },
  })
}
