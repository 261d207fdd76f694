/**
 * The code of docs/migrate.md, step by step.
 *
 * @module
 */

import { blocksOf, textOf } from '../docs/pages.ts'
import { headerOf } from '../docs/programs.ts'

const PAGE = 'docs/migrate.md'

/** The files of each section that has some, those of the sections before it included, by the section's heading. */
export function steps(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const lines = textOf(PAGE).split('\n')
  const found = new Map<string, ReadonlyMap<string, string>>()
  let files: ReadonlyMap<string, string> = new Map()
  for (const block of blocksOf(PAGE)) {
    const name = block.language === 'ts' ? headerOf(block)?.name : undefined
    if (name === undefined) continue
    const above = lines.slice(0, block.line).findLast((line) => line.startsWith('## ')) ?? ''
    files = new Map([...files, [name, block.text]])
    found.set(above.slice(3), files)
  }
  return found
}
