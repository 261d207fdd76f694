/**
 * `node .ci/totals.ts <vitest's JSON report> <vitest's exit code>`: prints the totals as one line, and fails when
 * anything failed.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

const [file = '', code = '1'] = process.argv.slice(2)
const report = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly unknown[]
  }[]
}

// A file that could not be read has no tests to fail, and an error outside of all tests has no file.
const broken = report.testResults.filter(
  ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
).length
const seen = report.numFailedTests + broken
const failed = seen === 0 && code !== '0' ? 1 : seen
const skipped = report.numPendingTests + report.numTodoTests

console.log(
  `${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
)
process.exitCode = failed === 0 ? 0 : 1
