/**
 * `npm run reference`: writes docs/reference from the doc comments, one page for each entry of package.json's `exports`.
 * `test/docs/reference.slow.test.ts` fails when the pages differ from the sources.
 *
 * @module
 */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readEntries } from './reference/entries.ts'
import { indexPage, pageOf } from './reference/page.ts'

/** Where the pages are. */
export const FOLDER: string = fileURLToPath(new URL('../docs/reference', import.meta.url))

/** Every page's file name and text. */
export function referencePages(): Map<string, string> {
  const reference = readEntries()
  const pages = reference.entries.map((entry) => [entry.page, pageOf(entry, reference)] as const)
  return new Map([['index.md', indexPage(reference)], ...pages])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = referencePages()
  mkdirSync(FOLDER, { recursive: true })
  for (const file of readdirSync(FOLDER)) if (!pages.has(file)) rmSync(join(FOLDER, file))
  for (const [file, text] of pages) writeFileSync(join(FOLDER, file), text)
  console.log(`Wrote ${pages.size} pages to docs/reference.`)
}
