/**
 * A database file of one test.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The path of a file that is not there yet; it goes with the test. */
export function fileOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'log.db')
}
