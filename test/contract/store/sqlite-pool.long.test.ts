import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../../adapters/stores/sqlite/store/open.ts'
import { verify } from '../../../extras/contract/index.ts'
import { keys, reading, where } from '../../../extras/contract/store/ask.ts'
import { people, person } from '../../../extras/contract/store/people.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { newFile } from './file.ts'
import { fillFile, MANY, manyIn, openMany, slow, slowReads } from './slow-reads.ts'

const path = newFile()
beforeAll(() => fillFile(path))

/** The processor time of this thread in milliseconds: what others do on the machine is no pause of ours. */
function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The longest time in milliseconds that the event loop stood still during `work`. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let before = worked()
  const look = () => {
    const now = worked()
    longest = Math.max(longest, now - before)
    before = now
  }
  const timer = setInterval(look, 1)
  await work()
  look()
  clearInterval(timer)
  return longest
}

/** The reads that take long hold up the event loop for a moment only, also while they begin. */
const withoutPauses = Object.fromEntries(
  Object.keys(slow).map((name) => {
    const sentence = `${name}: others are answered meanwhile`
    return [
      sentence,
      async (store: Store) => {
        // Loads the engine for patterns.
        const loading = { op: 'matches', field: '_id', pattern: 'x' } as const
        await manyIn(store).find(reading(loading, { limit: 1, sort: [] }))
        const pause = await longestPause(async () => slowReads[sentence]?.(store))
        console.log(`${name}: ${pause.toFixed(1)} ms`)
        expect(pause).toBeLessThan(50)
      },
    ]
  }),
)

verify(
  'SQLite with many records',
  { ...slowReads, ...withoutPauses },
  {
    open: () => openMany(path),
    close: (store) => store.close(),
  },
  { describe, it },
)

/** The threads that are started during `work`, on Node. */
async function threadsOf(work: (threads: readonly Worker[]) => Promise<void>): Promise<void> {
  const threads: Worker[] = []
  const note = (message: unknown) => threads.push((message as { worker: Worker }).worker)
  subscribe('worker_threads', note)
  await work(threads).finally(() => unsubscribe('worker_threads', note))
}

describe('A thread', () => {
  it('is started when it is first needed', async () => {
    await threadsOf(async (threads) => {
      const store = await openMany(path, { budgetMs: 1000 })
      const many = manyIn(store)
      await many.find(reading(everything, { limit: 50 }))
      await many.find(reading(everything, { sort: keys('-score', '_id'), skip: 50, limit: 50 }))
      expect(threads).toHaveLength(0)
      await many.count(where('age', 'eq', 1))
      expect(threads).toHaveLength(1)
      await store.close()
    })
  })

  it('that dies takes its read with it, and another one is started', async () => {
    await threadsOf(async (threads) => {
      const store = await openMany(path)
      const many = manyIn(store)
      await many.count(where('age', 'eq', 1))
      const [dying, waiting] = [
        many.count(where('age', 'eq', 2)),
        many.count(where('age', 'eq', 3)),
      ]
      dying.catch(() => {})
      expect(threads).toHaveLength(1)
      await threads[0]?.terminate()
      await expect(dying).rejects.toThrow(StoreUnavailable)
      expect(await waiting).toBe(MANY / 100)
      expect(threads).toHaveLength(2)
      await store.close()
    })
  })

  it('that cannot be started leaves its reads to the main thread, with a warning', async () => {
    const folder = dirname(newFile())
    const entry = join(folder, 'app.ts')
    // One of each kind: a list, a count, and groups.
    const some = ['a filter without an index', 'a count', 'groups in an index']
    const app = fileURLToPath(new URL('./slow-reads.ts', import.meta.url))
    await writeFile(
      entry,
      `import { manyIn, openMany, slow } from ${JSON.stringify(app)}
       const store = await openMany(${JSON.stringify(path)})
       for (const name of ${JSON.stringify(some)}) {
         const [ask, answer] = slow[name]
         console.log(await ask(manyIn(store), 60_000) === answer)
       }
       await store.close()`,
    )
    const outfile = join(folder, 'app.mjs')
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      conditions: ['fieldgate-source'],
    })
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [outfile])
    expect(stdout).toBe('true\n'.repeat(some.length))
    expect(stderr.match(/no thread for reads can be started/g)).toHaveLength(1)
  })
})

it('The log of a file is emptied while threads read all the time', async () => {
  const file = newFile()
  const store = openStore(file, { budgetMs: 0, rows: 0, threads: 3 })
  await store.prepare([people])
  const collection = store.collection(people)
  const long = (text: string) => ({ any: text.repeat(2 ** 20) })
  const records = Array.from({ length: 30 }, () => person(long('x')))
  for (const record of records) await collection.insert(record)
  const written = where('_id', 'eq', String(records[0]?._id))
  const read = (timeLimitMs: number) => collection.count(where('name', 'eq', 'x'), { timeLimitMs })
  const reads = [1, 2, 3].map((at) => read(150_000 + at))
  // SQLite itself never makes it shorter.
  let [before, size] = [0, 0]
  for (let time = 0; time < 200 && size >= before; time += 1) {
    await collection.update(written, { set: long(`${time % 10}`) })
    reads.push(read(160_000 + time))
    await reads.shift()
    ;[before, size] = [size, statSync(`${file}-wal`).size]
  }
  await Promise.all(reads)
  expect(size).toBeLessThan(before)
  await store.close()
})
