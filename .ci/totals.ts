/**
 * `node .ci/totals.ts {<vitest's JSON report> <vitest's exit code>}…`: prints the totals of all reports as one line, and
 * fails when anything failed.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly unknown[]
  }[]
}

const totals = { passed: 0, failed: 0, skipped: 0 }
const args = process.argv.slice(2)
for (let i = 0; i < args.length; i += 2) {
  const report = JSON.parse(readFileSync(args[i] ?? '', 'utf8')) as Report
  // A file that could not be read has no tests to fail, and an error outside of all tests has no file.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length
  const failed = report.numFailedTests + broken
  totals.passed += report.numPassedTests
  totals.failed += failed === 0 && args[i + 1] !== '0' ? 1 : failed
  totals.skipped += report.numPendingTests + report.numTodoTests
}

const { passed, failed, skipped } = totals
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 && args.length > 0 ? 0 : 1
