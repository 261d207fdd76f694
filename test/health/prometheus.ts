/**
 * Prometheus' own Python client as a judge of what `/metrics` says.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A line of the text format. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric with its samples. */
export interface Family {
  readonly name: string
  readonly type: string
  readonly samples: readonly Sample[]
}

const PACKAGE = 'prometheus_client==0.26.0'
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const PROGRAM = `
import json, sys
sys.path.insert(0, sys.argv[1])
from prometheus_client.parser import text_string_to_metric_families
print(json.dumps([
  {'name': family.name, 'type': family.type, 'samples': [
    {'name': s.name, 'labels': s.labels, 'value': s.value} for s in family.samples]}
  for family in text_string_to_metric_families(sys.argv[2])]))
`

/** What the parser makes of `text`; rejects where it is no valid text. */
export async function parsed(text: string): Promise<Family[]> {
  const run = promisify(execFile)
  const folder = at(`../../.cache/services/${PACKAGE.replace('==', '-')}`)
  await run('python3', [at('../services/wheel.py'), folder, PACKAGE])
  const { stdout } = await run('python3', ['-c', PROGRAM, folder, text])
  return JSON.parse(stdout) as Family[]
}
