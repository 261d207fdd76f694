/**
 * Prints the rules of the record API, each with the tests that prove it: `node test/records/rules.ts`, or with
 * `--titles` to see every title.
 *
 * The list is made from the titles of the tests. A title, or that of the `describe` around it, begins with the row
 * of the contract that it proves, up to a colon; a title with several rows joins them with ` · `.
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
}

/** A test that proves a row of the contract. */
interface Proof {
  readonly row: string
  readonly title: string
  readonly file: string
}

const ROOT = join(import.meta.dirname, '..', '..')
const FOLDERS = ['test/records', 'test/types']

/** Every test, those made in loops too, so the files are loaded and not only parsed. */
function listedTests(): ListedTest[] {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'))
  const file = join(folder, 'tests.json')
  try {
    const vitest = join(ROOT, 'node_modules', '.bin', 'vitest')
    const command = ['list', ...FOLDERS, '--project', 'unit', '--no-static-parse', `--json=${file}`]
    const { status, stderr } = spawnSync(vitest, command, { cwd: ROOT, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return JSON.parse(readFileSync(file, 'utf8')) as ListedTest[]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** How the rows are called: a section of the spec, a page beside it, or what has gone wrong elsewhere. */
const ROW = /^(?:\d(?:\.\d)? \w|answers\b|design\b|docs\b|security, )/

/** The innermost title that names a row says which it is. */
function proofsOf({ name, file }: ListedTest): Proof[] {
  const titles = name.split(' > ')
  const naming = titles.findLast((title) => ROW.test(title)) ?? '(no row named)'
  const [rows = naming] = naming.split(': ')
  const whole = titles.at(-1) ?? name
  const title = whole.startsWith(`${rows}: `) ? whole.slice(rows.length + 2) : whole
  return rows.split(' · ').map((row) => ({ row, title, file: relative(ROOT, file) }))
}

function print(row: string, proofs: readonly Proof[]): void {
  console.log(`\n${row}`)
  for (const [file, tests = []] of Map.groupBy(proofs, (proof) => proof.file)) {
    console.log(`  ${file} (${tests.length})`)
    if (!process.argv.includes('--titles')) continue
    for (const { title } of tests) console.log(`    - ${title.replaceAll('\n', ' ')}`)
  }
}

const tests = listedTests()
const rules = [...Map.groupBy(tests.flatMap(proofsOf), ({ row }) => row)].sort(([a], [b]) =>
  a.localeCompare(b, 'en', { numeric: true }),
)
for (const [row, proofs] of rules) print(row, proofs)
console.log(`\n${rules.length} rules, ${tests.length} tests`)
