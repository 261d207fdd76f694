/**
 * The rows of docs/differences.md.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

/** A row of a table. */
export interface Row {
  /** The heading above the table. */
  readonly section: string
  /** The older package's behaviour: what a row is found by. */
  readonly there: string
  readonly here: string
}

/** The section for the versions that npm has. */
export const ON_NPM = 'From 1.x'

/** All rows of the page in order. */
export function readRows(): Row[] {
  const page = readFileSync(new URL('../../docs/differences.md', import.meta.url), 'utf8')
  let section = ''
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('## ')) section = line.slice(3)
    if (!/^\| (?!there \|)[^-]/.test(line)) return []
    const [, there = '', here = ''] = line.split(/ ?(?<!\\)\| ?/)
    return [{ section, there, here }]
  })
}

/** The row whose first cell has these words; an error unless there is exactly one. */
export function rowWith(words: string, rows: readonly Row[]): Row {
  const found = rows.filter(({ there }) => there.includes(words))
  const [row] = found
  if (row === undefined || found.length > 1)
    throw new Error(
      `${found.length} rows of docs/differences.md have "${words}" in their first cell`,
    )
  return row
}
