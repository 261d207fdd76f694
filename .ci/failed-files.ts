/**
 * `node .ci/failed-files.ts <vitest's JSON report>…`: prints the files in which a test has failed; nothing if there are more
 * than a few, which is no chance.
 *
 * @module
 */

import { relative } from 'node:path'
import { filesOf } from './report.ts'

const MOST = 4

const failed = process.argv
  .slice(2)
  .flatMap(filesOf)
  .filter(({ status }) => status === 'failed')
if (failed.length <= MOST) {
  console.log(failed.map(({ name }) => relative(process.cwd(), name)).join(' '))
}
