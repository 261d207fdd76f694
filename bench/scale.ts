/**
 * `npm run bench:scale [-- <part> … --factor 0.001 --store sqlite,postgres]`: 10 million records, 3,000 models, 10,000 idle
 * connections and an hour of mixed load, or that part of each which the factor says.
 *
 * @module
 */

import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { buildServers } from './build.ts'
import { checkWrk } from './load.ts'
import { machineLine } from './results.ts'
import { connections } from './scale/connections.ts'
import { hours } from './scale/hours.ts'
import { models } from './scale/models.ts'
import type { Part } from './scale/part.ts'
import { records } from './scale/records.ts'
import { save } from './scale/table.ts'
import { readSettings } from './settings.ts'
import { chosen } from './works.ts'

const PARTS: Readonly<Record<string, Part>> = { records, models, connections, hours }
/** What is smaller is only a try. */
const LEAST_TO_SAVE = 0.05

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      factor: { type: 'string', default: '1' },
      store: { type: 'string', default: 'sqlite,postgres' },
    },
  })
  const factor = Number(values.factor)
  const { stores } = readSettings(['--store', values.store])
  const names = chosen(Object.keys(PARTS), positionals)
  checkWrk()
  await buildServers()
  for (const store of stores) {
    for (const part of names) {
      console.log(`\n${part} on ${store}, factor ${factor}; ${machineLine()}`)
      const [before = 0] = loadavg()
      const figures = (await PARTS[part]?.({ factor, store })) ?? []
      const [after = 0] = loadavg()
      for (const { what, figure } of figures) console.log(`${what}: ${figure}`)
      console.log(machineLine())
      if (factor >= LEAST_TO_SAVE) save({ part, store, factor, load: [before, after], figures })
    }
  }
}

await main().catch((error: Error) => {
  console.error(error)
  process.exit(1)
})
