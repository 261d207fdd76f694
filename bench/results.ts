/**
 * What a run writes down: every sample, with the machine, its load and the versions.
 *
 * @module
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { ColdStart } from './cold-start.ts'
import type { Settings } from './settings.ts'
import type { Row } from './table.ts'

const PACKAGES = ['mongodb', 'postgres', 'zod', 'srvx', 'deno', 'bun', 'workerd']

/** The machine and its load now, in one line. */
export function machineLine(): string {
  const load = loadavg().map((value) => value.toFixed(2))
  return `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, load ${load.join(' ')}`
}

/** Rounds below which a run is only a try. */
const ENOUGH_ROUNDS = 3

const loadAtStart = loadavg()

/** Writes `bench/results/<name>.json`, unless the run was only a try. */
export function saveResults(
  name: string,
  settings: Settings,
  rows: readonly Row[],
  starts: readonly ColdStart[] = [],
): void {
  if (settings.rounds < ENOUGH_ROUNDS) return
  const folder = fileURLToPath(new URL('./results/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const { rounds, seconds, size } = settings
  const content = {
    machine: { cores: cpus().length, model: cpus()[0]?.model.trim(), loadAtStart },
    versions: versions(),
    settings: { rounds, seconds, size },
    rows: rows.map(({ work, connections, server, samples }) => ({
      work,
      connections,
      server,
      samples,
    })),
    starts,
  }
  writeFileSync(`${folder}${name}.json`, `${JSON.stringify(content, rounded, 1)}\n`)
}

function versions(): Record<string, string> {
  const found = PACKAGES.map((name) => {
    const file = new URL(`../node_modules/${name}/package.json`, import.meta.url)
    return [name, (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version]
  })
  return { node: process.version, ...Object.fromEntries(found) }
}

function rounded(_name: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value
}
