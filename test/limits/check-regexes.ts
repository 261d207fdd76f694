/**
 * Judges the regular expressions of src and adapters that linear-regexes.json does not list yet, lists those that are
 * linear, and drops those that have gone: `node test/limits/check-regexes.ts`. After a change of the checker it judges all,
 * which takes an hour.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { CHECKER, complaintAbout, type Judged, LIST, nameOf, productRegexes } from './regexes.ts'

/** What takes longer than this to judge is judged again at night alone. */
const QUICK_SECONDS = 1

const listed = JSON.parse(readFileSync(LIST, 'utf8')) as Judged
const isSame = listed.checker === CHECKER
const known = {
  quick: new Set(isSame ? listed.quick : []),
  slow: new Set(isSame ? listed.slow : []),
}
const linear = { quick: new Set<string>(), slow: new Set<string>() }
for (const { at, regex, code } of productRegexes()) {
  if (!regex) continue
  const name = nameOf(regex)
  if (linear.quick.has(name) || linear.slow.has(name)) continue
  if (known.quick.has(name)) linear.quick.add(name)
  else if (known.slow.has(name)) linear.slow.add(name)
  else {
    const began = process.cpuUsage()
    const complaint = complaintAbout(regex.source, regex.flags)
    const { user } = process.cpuUsage(began)
    if (complaint === undefined) linear[user < QUICK_SECONDS * 1e6 ? 'quick' : 'slow'].add(name)
    else {
      console.error(`${at} ${code}: ${complaint}`)
      process.exitCode = 1
    }
  }
}
const [quick, slow] = [[...linear.quick].sort(), [...linear.slow].sort()]
writeFileSync(LIST, `${JSON.stringify({ checker: CHECKER, quick, slow }, null, 2)}\n`)
