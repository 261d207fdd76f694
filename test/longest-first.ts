/**
 * The order in which files of tests begin.
 *
 * @module
 */

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, or waits for what takes its time, as a lease that a killed process held: what is longest comes first. */
const LONGEST = [
  'runtimes/outlived.slow',
  'contract/store/mongodb',
  'http/http',
  'contract/store/postgres',
  'contract/store/d1',
  'openapi/tools.long',
  'package/bundlers.long',
  'package/create/projects.long',
  'docs/blocks.long',
  'records/mongodb.long',
  'contract/store/duckdb.long',
  'package/create/cli.long',
  'contract/store/libsql-others.long',
  'cli/workers.long',
  'changes/d1.long',
  'mongoose/mongoose.long',
  'package/docker/atlas.long',
  'release/pack.long',
  'versions/d1.long',
  'express/express.long',
  'background/consumers.stress',
  'background/jobs.stress',
  'background/webhooks.stress',
  'log/proof.stress',
  'atomic/histories/histories.stress',
  'auth/attacker/stores.stress',
  'faults/steps/stores.stress',
  'records/rights/rights.stress',
  'versions/evolution/evolution.stress',
  'versions/rules/rules.stress',
  'faults/steps/sqlite.stress',
  'uploads/sequences/sequences.stress',
  'records/differential/differential.stress',
  'auth/timing/stores.stress',
]

/** The place of a file of tests among the longest; behind them all for others. */
export function placeOf(file: string): number {
  const at = LONGEST.findIndex((name) => `/${file}`.includes(`/test/${name}.`))
  return at < 0 ? LONGEST.length : at
}

/** The longest files begin first, so that none of them runs alone in the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => placeOf(a.moduleId) - placeOf(b.moduleId))
  }
}
