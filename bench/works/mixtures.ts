/**
 * Reads with creates among them.
 *
 * @module
 */

import type { Requests } from '../load.ts'
import type { Work } from '../work.ts'

/** The works of which every so manyth request is `create`. */
export function mixtures(create: Requests, read: Requests, totals: Requests): Work[] {
  return [
    {
      name: 'list-totals-writes',
      requests: { ...totals, every: { nth: 100, is: create } },
      with: ['peers'],
      writes: true,
    },
    {
      name: 'mixed',
      requests: { ...read, every: { nth: 10, is: create } },
      with: ['peers', 'runtimes'],
      writes: true,
    },
  ]
}
