/**
 * The contract in a plain loop, for runtimes without the test runner: `deno run -A sqlite-loop.ts memory`, or `threads`.
 *
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Contract } from '../../../extras/contract/index.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { contractInShort } from './in-short.ts'
import { fillFile, manyIn, openMany, slow, slowReads } from './slow-reads.ts'

const folder = await mkdtemp(join(tmpdir(), 'fieldgate-loop-'))
let files = 0
function newFile(): string {
  files += 1
  return join(folder, `${files}.db`)
}
const many = newFile()
type Suite = readonly [Contract<Store>, () => Store | Promise<Store>]
const suites: Readonly<Record<string, readonly Suite[]>> = {
  memory: [[contractInShort, () => sqliteStore()]],
  threads: [[slowReads, () => openMany(many)]],
}
const name = process.argv[2] ?? ''
if (name === 'threads') await fillFile(many)

let [kept, all] = [0, 0]
for (const [cases, open] of suites[name] ?? []) {
  for (const [sentence, check] of Object.entries(cases)) {
    const store = await open()
    all += 1
    try {
      await check(store)
      kept += 1
    } catch (error) {
      console.error(`${sentence}: ${(error as Error).stack ?? error}`)
    } finally {
      await store.close()
    }
  }
}
// A thread that rests keeps no process alive.
if (name === 'threads') await slow['a count'][0](manyIn(await openMany(many)), 60_000)
await rm(folder, { recursive: true })
console.log(`${kept} of ${all} kept`)
