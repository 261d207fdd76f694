/**
 * The order in which files of tests begin.
 *
 * @module
 */

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, or waits for what takes its time, as a lease that a killed process held. */
const LONGEST =
  /\/test\/(?:http\/http|(?:docs\/blocks|background\/.*|log\/proof|openapi\/tools|package\/(?:create\/projects|bundlers))\.long)/

/** The longest files begin first, so that none of them runs alone in the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
