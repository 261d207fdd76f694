/**
 * `npm run files:sweep [-- --dry-run] [-- --grace <seconds>]`: removes files of the atlas that no record points at.
 * An app of your own does the same with `sweepFiles(app)`.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { atlas } from '../examples/atlas/app.ts'
import { readConfig } from '../examples/atlas/config.ts'
import { servicesOf } from '../examples/atlas/services.ts'
import { sweepFiles } from '../src/index.ts'

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    grace: { type: 'string', default: '3600' },
  },
})
const graceSeconds = Number(values.grace)
if (!(graceSeconds >= 0)) throw new TypeError('--grace takes a number of seconds')

const app = atlas(await servicesOf(readConfig(process.env)))
try {
  const dryRun = values['dry-run']
  const { examined, orphans } = await sweepFiles(app, { graceSeconds, dryRun })
  const verb = dryRun ? 'would be removed' : 'removed'
  console.log(`${examined} files looked at, ${orphans.length} without a record ${verb}.`)
  for (const key of orphans) console.log(key)
} finally {
  await app.close()
}
