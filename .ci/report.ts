/**
 * What vitest's JSON report says of a run.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

/** What became of a file of tests. */
export interface FileResult {
  readonly name: string
  readonly status: string
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
}

/** The files of the run that this report is about. */
export function filesOf(report: string): readonly FileResult[] {
  return (JSON.parse(readFileSync(report, 'utf8')) as { testResults: FileResult[] }).testResults
}
