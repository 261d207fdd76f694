/**
 * The order in which files of tests begin.
 *
 * @module
 */

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, or waits for what takes its time, as a lease that a killed process held. */
const LONGEST = [
  'http/http',
  'docs/blocks.long',
  'openapi/tools.long',
  'package/create/projects.long',
  'package/bundlers.long',
  'background/consumers.stress',
  'background/jobs.stress',
  'background/webhooks.stress',
  'log/proof.stress',
  'contract/store/duckdb.long',
  'mongoose/mongoose.long',
  'auth/timing/stores.stress',
  'cli/workers.long',
  'express/express.long',
]

/** The longest files begin first, so that none of them runs alone in the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST.some((name) => moduleId.includes(`/test/${name}.`))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
