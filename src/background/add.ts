/**
 * Adds background work to an app.
 *
 * @module
 */

import type { Fail } from '../model/option-rules.ts'
import type { BackgroundWork } from '../records/engine/background-work.ts'
import type { Host } from '../records/engine/host.ts'

/** Adds a job or a consumer, which no other of the app may be named like. */
export function addWork(host: Host, work: BackgroundWork, kind: string, fail: Fail): void {
  const isSame = (one: BackgroundWork) =>
    one.name === work.name && one.constructor === work.constructor
  if (host.background.some(isSame)) fail(`there is a ${kind} of this name already`)
  host.background.push(work)
  // An app that has started prepares it too.
  host.onReady(() => {})
}
