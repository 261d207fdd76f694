import { methodNotAllowed } from '../http/errors/refusals.ts'
import { describeGuard } from '../records/engine/guards.ts'
import type { Guard } from '../records/engine/route.ts'

const READS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'QUERY']

/**
 * Refuses every method but GET, HEAD, OPTIONS and QUERY with a 405. `Allow` of an OPTIONS response lists only these.
 *
 * ```ts
 * app.mount('/cities', createRouter({ model: City, middlewares: [readOnly()] }))
 * ```
 */
export function readOnly(): Guard {
  const guard: Guard = ({ method }, context) => {
    if (!READS.includes(method)) throw methodNotAllowed(READS.join(', '))
    if (method === 'OPTIONS') context.onResponse(withoutWrites)
  }
  return describeGuard(guard, 'anyone', { refusals: [], methods: READS })
}

async function withoutWrites(response: Response): Promise<Response | undefined> {
  const allow = response.headers.get('allow')
  if (allow === null) return undefined
  const reads = allow
    .split(', ')
    .filter((method) => READS.includes(method))
    .join(', ')
  const text = await response.text()
  // The app's own response has the header's value as its body.
  const own = new Response(text === allow ? reads : text, response)
  own.headers.set('Allow', reads)
  return own
}
