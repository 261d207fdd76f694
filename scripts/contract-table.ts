/**
 * `node scripts/contract-table.ts files`: runs the contract suite of a port, and prints which adapter keeps which
 * promise.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
    }[]
  }[]
}

const MARKS: Readonly<Record<string, string>> = { passed: 'yes', failed: '**no**', skipped: '–' }

/** Runs the tests of `folder`, and gives vitest's report. */
async function run(folder: string): Promise<Report> {
  const place = await mkdtemp(join(tmpdir(), 'fieldgate-table-'))
  const outputFile = join(place, 'report.json')
  const vitest = fileURLToPath(new URL('../node_modules/.bin/vitest', import.meta.url))
  const args = ['run', folder, '--reporter=json', `--outputFile=${outputFile}`]
  await once(spawn(vitest, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')
  const report = JSON.parse(await readFile(outputFile, 'utf8')) as Report
  await rm(place, { recursive: true })
  return report
}

/** The table: a row for each promise that several adapters make, a column for each adapter. */
function table({ testResults }: Report): string {
  const rows = new Map<string, Map<string, string>>()
  const reasons = new Set<string>()
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  for (const { ancestorTitles, title, status } of results) {
    // The runtimes that vitest is not at home in name their stores in the title: `S3: a stream is …`.
    const [, store, rest] = /^(S3|a folder): (.*)$/.exec(title) ?? []
    const [, sentence = '', reason] = /^(.*?)(?: \(not here: (.*)\))?$/.exec(rest ?? title) ?? []
    const adapter = [ancestorTitles.join(', '), store].filter(Boolean).join(', ')
    if (reason) reasons.add(`– ${adapter}: ${reason}`)
    if (adapter) rows.set(sentence, (rows.get(sentence) ?? new Map()).set(adapter, status))
  }
  const promises = [...rows].filter(([, kept]) => kept.size > 1)
  const adapters = [...new Set(promises.flatMap(([, kept]) => [...kept.keys()]))]
  const lines = promises.map(([sentence, kept]) => {
    const cells = adapters.map((adapter) => MARKS[kept.get(adapter) ?? ''] ?? '')
    return `| ${sentence} | ${cells.join(' | ')} |`
  })
  const head = [`| promise | ${adapters.join(' | ')} |`, `|---|${'---|'.repeat(adapters.length)}`]
  return [...head, ...lines, '', ...reasons].join('\n')
}

const [, , port = ''] = process.argv
console.log(table(await run(`test/contract/${port}/`)))
