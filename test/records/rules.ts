/**
 * Prints the rules of the record API, each with the tests that prove it: `node test/records/rules.ts`.
 *
 * The list is made from the titles of the tests. A title begins with the row of the contract that it proves and a
 * colon; a title with several rows joins them with ` · `.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** A test as vitest lists it. */
interface ListedTest {
  /** The titles from the outermost `describe` inwards, joined by ` > `. */
  readonly name: string
  readonly file: string
  readonly location?: { readonly line: number }
}

/** One row of the contract and what proves it. */
interface Rule {
  readonly row: string
  readonly proofs: readonly string[]
}

const ROOT = join(import.meta.dirname, '..', '..')
const FOLDERS = ['test/records', 'test/types']

function listedTests(): ListedTest[] {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'))
  const file = join(folder, 'tests.json')
  try {
    const vitest = join(ROOT, 'node_modules', '.bin', 'vitest')
    const command = ['list', ...FOLDERS, '--project', 'unit', `--json=${file}`]
    const { status, stderr } = spawnSync(vitest, command, { cwd: ROOT, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return JSON.parse(readFileSync(file, 'utf8')) as ListedTest[]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function rulesOf(tests: readonly ListedTest[]): Rule[] {
  const proofs = new Map<string, string[]>()
  for (const { name, file, location } of tests) {
    const title = name.split(' > ').at(-1) ?? name
    const colon = title.indexOf(': ')
    const rows = colon === -1 ? ['(no row named)'] : title.slice(0, colon).split(' · ')
    const place = `${relative(ROOT, file)}:${location?.line ?? 1}`
    const proof = `${title.slice(colon === -1 ? 0 : colon + 2)} (${place})`
    for (const row of rows) proofs.set(row, [...(proofs.get(row) ?? []), proof])
  }
  return [...proofs]
    .map(([row, list]) => ({ row, proofs: list }))
    .sort((a, b) => a.row.localeCompare(b.row, 'en', { numeric: true }))
}

const rules = rulesOf(listedTests())
for (const { row, proofs } of rules) {
  console.log(`\n${row}`)
  for (const proof of proofs) console.log(`  - ${proof}`)
}
const total = rules.reduce((sum, { proofs }) => sum + proofs.length, 0)
console.log(`\n${rules.length} rules, ${total} tests`)
