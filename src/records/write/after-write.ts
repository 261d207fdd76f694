/**
 * Hooks after a write.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import { runShielded } from '../../http/shield.ts'
import type { Resource } from '../setup/resource.ts'

/** The hooks that run after a write. */
export type AfterHook = 'runAfterCreate' | 'afterUpdate' | 'afterRemove'

/**
 * Runs a hook after a write; the response waits for it. What is written stays, so a failure is only logged, unless the
 * hook is `strict`: then it is a 500.
 */
export async function runAfterWrite(
  { mount, host }: Pick<Resource, 'mount' | 'host'>,
  request: ApiRequest,
  name: AfterHook,
  hook: () => unknown,
  strict = false,
): Promise<void> {
  try {
    await runShielded(request, hook)
  } catch (error) {
    const message = `Router '${mount}': ${name} failed`
    if (strict) throw new Error(message, { cause: error })
    host.logger.error(message, {
      ...idsOf(request),
      error: String((error as Error)?.stack ?? error),
    })
  }
}
