/**
 * What to do if something on this machine keeps the server from starting.
 *
 * @module
 */

import process from 'node:process'
// @if compose
import { StoreUnavailable } from 'fieldgate/ports'
// @end

/** Ends the process with two lines: what is wrong, and what to do. Other errors come with their stack. */
export function endWithAdvice(error: Error & { readonly code?: unknown }): void {
  const advice = adviceOn(error)
  if (advice === undefined) return
  console.error(`${error.message}\n${advice}`)
  process.exit(1)
}

function adviceOn(error: { readonly code?: unknown }): string | undefined {
  // @if compose
  if (error instanceof StoreUnavailable) {
    return 'Start it with docker compose up --detach --wait, or correct DATABASE_URL in .env.'
  }
  // @end
  return error.code === 'EADDRINUSE' ? 'The port is PORT in .env.' : undefined
}
