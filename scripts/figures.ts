/**
 * `npm run figures`, after a measurement: brings the tables of README.md and docs/speed.md, and the charts of docs/charts,
 * to what `bench/results` says.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pagesWithFigures } from '../bench/figures.ts'

for (const { path, text, current } of pagesWithFigures()) {
  if (text === current) continue
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, current)
  console.log(`new figures in ${path}`)
}
