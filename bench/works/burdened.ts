/**
 * Reads by id where something else may slow them down.
 *
 * @module
 */

import type { Requests } from '../load.ts'
import type { Asked } from '../records/asked.ts'
import type { Work } from '../work.ts'

/** The works whose samples are compared with those of the same server without the burden. */
export function burdened(read: Requests, { lastPage }: Asked): Work[] {
  const beside = { requests: read, connections: [1] }
  return [
    {
      ...beside,
      name: 'beside-offset',
      with: ['peers', 'runtimes'],
      burden: { others: `/products?page=${lastPage}&pageSize=50` },
    },
    { ...beside, name: 'beside-letters', with: [], burden: { others: '/products?s=zq' } },
    {
      name: 'last-of-200',
      requests: read,
      with: ['runtimes'],
      stores: ['sqlite'],
      connections: [16],
      writes: true,
      seconds: 4,
      burden: { models: 200 },
    },
  ]
}
