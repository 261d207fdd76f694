/**
 * `npm run files:sweep [-- --dry-run] [-- --grace <seconds>]`: removes files of the atlas that no record points at.
 * An app of your own does the same with `sweepFiles(app)`.
 *
 * @module
 */

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { diskFiles } from '../adapters/files/disk.ts'
import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import { atlas } from '../examples/atlas/app.ts'
import { sweepFiles } from '../src/index.ts'

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    grace: { type: 'string', default: '3600' },
  },
})
const graceSeconds = Number(values.grace)
if (!(graceSeconds >= 0)) throw new TypeError('--grace takes a number of seconds')

const path = process.env.ATLAS_DB ?? fileURLToPath(new URL('../data/atlas.db', import.meta.url))
// Nothing is signed here, so any secret will do.
const secret = crypto.randomUUID()
const files = diskFiles({ root: join(dirname(path), 'files'), secret })
const app = atlas({ store: sqliteStore({ path }), files, secret })
try {
  const dryRun = values['dry-run']
  const { examined, orphans } = await sweepFiles(app, { graceSeconds, dryRun })
  const verb = dryRun ? 'would be removed' : 'removed'
  console.log(`${examined} files looked at, ${orphans.length} without a record ${verb}.`)
  for (const key of orphans) console.log(key)
} finally {
  await app.close()
}
