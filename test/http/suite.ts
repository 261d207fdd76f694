/**
 * The black-box suite: it knows a base URL alone, under which an empty atlas is served.
 *
 * @module
 */

import type { Checks } from './check.ts'
import { accounts, sessions } from './checks/accounts.ts'
import { batches } from './checks/batches.ts'
import { bodies } from './checks/bodies.ts'
import { changes } from './checks/changes.ts'
import { guards } from './checks/guards.ts'
import { limits } from './checks/limits.ts'
import { operations, readiness } from './checks/operations.ts'
import { endings, records } from './checks/records.ts'
import { requests, trickles } from './checks/requests.ts'
import { ways } from './checks/ways.ts'

/**
 * Those that show that a store's driver works on a runtime. What the others ask is answered before the store, or by the same
 * calls of it: all checks run on each runtime with one store.
 */
export const stored: Checks = {
  ...records,
  ...sessions,
  ...readiness,
  ...batches,
  ...changes,
  ...endings,
}

/** All checks, in their order: what takes its time begins early, and is looked at last. */
export const suite: Checks = {
  ...records,
  ...requests,
  ...bodies,
  ...accounts,
  ...ways,
  ...operations,
  ...guards,
  ...batches,
  ...changes,
  ...limits,
  ...endings,
  ...trickles,
}
