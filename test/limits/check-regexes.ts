/**
 * Judges the regular expressions of src and adapters that linear-regexes.json does not list yet, lists those that are
 * linear, and drops those that have gone: `node test/limits/check-regexes.ts`.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { complaintAbout, LIST, nameOf, productRegexes } from './regexes.ts'

const known = new Set(JSON.parse(readFileSync(LIST, 'utf8')) as string[])
const linear = new Set<string>()
for (const { at, regex, code } of productRegexes()) {
  if (!regex) continue
  const name = nameOf(regex)
  const complaint = known.has(name) ? undefined : complaintAbout(regex.source, regex.flags)
  if (complaint === undefined) linear.add(name)
  else {
    console.error(`${at} ${code}: ${complaint}`)
    process.exitCode = 1
  }
}
writeFileSync(LIST, `${JSON.stringify([...linear].sort(), null, 2)}\n`)
