/**
 * `npm run figures`, after a measurement: brings the tables of README.md and docs/speed.md to what `bench/results` says.
 *
 * @module
 */

import { writeFileSync } from 'node:fs'
import { pagesWithFigures } from '../bench/figures.ts'

for (const { path, text, current } of pagesWithFigures()) {
  if (text === current) continue
  writeFileSync(path, current)
  console.log(`new figures in ${path}`)
}
