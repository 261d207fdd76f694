/**
 * What to do if the database isn't there when the server starts.
 *
 * @module
 */

import process from 'node:process'
import { StoreUnavailable } from 'fieldgate/ports'

/** Ends the process with two lines if the database can't be used. Other errors come with their stack. */
export function endWithout(error: Error): void {
  if (!(error instanceof StoreUnavailable)) return
  console.error(`${error.message}
Start it with docker compose up --detach --wait, or correct DATABASE_URL in .env.`)
  process.exit(1)
}
