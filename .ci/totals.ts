/**
 * `node .ci/totals.ts {<vitest's JSON report> <vitest's exit code>}…`: prints the totals of all reports as one line, and
 * fails when anything failed. Of a file that ran again, the last run counts.
 *
 * @module
 */

import { relative } from 'node:path'
import { type FileResult, filesOf } from './report.ts'

const args = process.argv.slice(2)
const files = new Map<string, FileResult>()
let isOtherwise = false
for (let i = 0; i < args.length; i += 2) {
  const found = filesOf(args[i] ?? '')
  for (const one of found) {
    const before = files.get(one.name)?.assertionResults ?? []
    for (const { fullName } of before.filter(({ status }) => status === 'failed')) {
      console.log(`failed beside others: ${relative(process.cwd(), one.name)}: ${fullName}`)
    }
    files.set(one.name, one)
  }
  // An error outside of all tests has no file.
  isOtherwise ||= args[i + 1] !== '0' && found.every(({ status }) => status !== 'failed')
}

const totals = { passed: 0, failed: isOtherwise ? 1 : 0, skipped: 0 }
for (const { status, assertionResults } of files.values()) {
  for (const test of assertionResults) {
    if (test.status === 'passed') totals.passed += 1
    else if (test.status === 'failed') totals.failed += 1
    else totals.skipped += 1
  }
  // A file that could not be read has no tests to fail, and one may fail outside of its tests.
  const failedApart =
    status === 'failed' && assertionResults.every((one) => one.status !== 'failed')
  if (failedApart) totals.failed += 1
}

const { passed, failed, skipped } = totals
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 && args.length > 0 ? 0 : 1
