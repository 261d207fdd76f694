/**
 * What a run writes down: every sample, with the machine, its load and the versions.
 *
 * @module
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Settings } from './settings.ts'
import type { Row } from './table.ts'

const PACKAGES = ['mongodb', 'zod', 'srvx', 'deno', 'bun']

/** The machine and its load now, in one line. */
export function machineLine(): string {
  const load = loadavg().map((value) => value.toFixed(2))
  return `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, load ${load.join(' ')}`
}

/** Writes `bench/results/<name>.json`. */
export function saveResults(name: string, settings: Settings, rows: readonly Row[]): void {
  const folder = fileURLToPath(new URL('./results/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const { rounds, seconds, size } = settings
  const content = {
    machine: { cores: cpus().length, model: cpus()[0]?.model.trim(), load: loadavg() },
    versions: versions(),
    settings: { rounds, seconds, size },
    rows: rows.map(({ work, connections, server, samples }) => ({
      work,
      connections,
      server,
      samples,
    })),
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
