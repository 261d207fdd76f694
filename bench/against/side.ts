/**
 * One of the two commits: builds its servers and makes its records by its own code, and tells its parent where they are.
 *
 * The parent copies this file into the other commit's tree, so it relies on nothing but what it imports.
 *
 * @module
 */

import { on } from 'node:events'
import process from 'node:process'
import { buildServers, built } from '../build.ts'
import { withStore } from '../records/databases.ts'
import type { StoreName } from '../servers.ts'

/** What the parent asks for: a place to read from, one to write to, or that what was written is removed. */
export type Question = 'read' | 'write' | 'tidy'

const [store = '', size] = process.argv.slice(2)
await buildServers()
await withStore(store as StoreName, async ({ database }) => {
  const records = await database(Number(size), ['fieldgate'])
  const { asked, cursor } = records
  process.send?.({ asked, cursor, script: built('fieldgate/node') })
  for await (const [question] of on(process, 'message', { close: ['disconnect'] })) {
    if (question === 'tidy') await records.tidy()
    process.send?.(question === 'tidy' ? '' : records.place('fieldgate', question === 'write'))
  }
  await records.close()
})
