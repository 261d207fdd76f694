/**
 * What was measured of scale, kept part by part, and its table.
 *
 * @module
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { StoreName } from '../servers.ts'
import type { Figure } from './part.ts'

const file = new URL('../results/scale.json', import.meta.url)
const LABELS = { sqlite: 'SQLite', postgres: 'PostgreSQL', mongodb: 'MongoDB', d1: 'D1' }

/** One part on one store. */
export interface Measured {
  readonly part: string
  readonly store: StoreName
  readonly factor: number
  /** The load of the machine before and after. */
  readonly load: readonly [number, number]
  readonly figures: readonly Figure[]
}

/** Writes a part down in place of what was measured of it before. */
export function save(measured: Measured): void {
  const isOther = ({ part, store }: Measured) => part !== measured.part || store !== measured.store
  const parts = [...known().filter(isOther), measured]
  writeFileSync(file, `${JSON.stringify(parts, undefined, 1)}\n`)
}

/** The head and the lines of the table. */
export function scaleLines(): string[] {
  const lines = known().flatMap(({ store, load, figures }) =>
    figures.map(
      ({ what, figure }) =>
        `| ${LABELS[store]}, ${what} | ${figure} | ${load.map((one) => one.toFixed(0)).join('–')} |`,
    ),
  )
  return ['| scale | | load |', '|---|---|---|', ...lines]
}

function known(): Measured[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}
