/**
 * The log of `createApp({ accessLog, slowMs })`: a line for each request, and one for each slow store call.
 *
 * @module
 */

import { asyncContext } from '#contexts'
import { idsOf } from '../http/request-ids.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObservedRequest, Observer } from '../ports/observer.ts'
import { pathOf } from '../ports/path-of.ts'

/** Logs a line for each request, once there is a response. */
export function accessLog(logger: Logger): Observer {
  return {
    async request(request, respond) {
      const from = performance.now()
      const response = await respond()
      quietly(() =>
        logger.info('request', {
          ...idsOf(request),
          method: request.method,
          path: pathOf(request.url),
          status: response.status,
          ms: msSince(from),
        }),
      )
      return response
    },
  }
}

/** Logs a line for each store call that takes `slowMs` milliseconds or longer, whether or not it fails. */
export function slowCalls(logger: Logger, slowMs: number): Observer {
  const current = asyncContext<ObservedRequest>()
  return {
    request: (request, respond) => current.run(request, respond),
    async storeCall(call, run) {
      const from = performance.now()
      try {
        return await run()
      } finally {
        const ms = msSince(from)
        if (ms >= slowMs) {
          const request = current.getStore()
          quietly(() =>
            logger.warn('slow store call', { ...(request && idsOf(request)), ...call, ms }),
          )
        }
      }
    },
  }
}

/** Milliseconds since `from`, to a tenth. */
function msSince(from: number): number {
  return Math.round((performance.now() - from) * 10) / 10
}

/** If the logger fails, the client still gets its response. */
function quietly(log: () => void): void {
  try {
    log()
  } catch {}
}
