/**
 * What uploads cost in memory, on each runtime: a file of 1 GB against the cap of 10 MB, and many legal ones.
 */

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, describe, expect, it } from 'vitest'
import { type Running, runtimes, start } from '../../http/runtimes.ts'
import { bundled } from '../../http/workerd.ts'
import { flood } from './flood.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
/** What the two systems' buffers take beyond what the app has read. */
const IN_BUFFERS = 24 * MIB

/** A running server, and how its memory is told. */
interface Measured {
  readonly running: Running
  /** Begins to watch; the result tells the most memory since then, beyond what there was. */
  watch(): Promise<() => Promise<number>>
}

const table = [
  '| runtime | 1 GB against 10 MB: sent | more memory | files of 10 MB, ten a request: more memory |',
  '|---|---|---|---|',
]
afterAll(() => console.log(table.join('\n')))

const png = new Uint8Array(10 * MIB)
png.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
png.set([0, 0, 0, 0, 0x49, 0x44, 0x41, 0x54], 33)

/** Ten legal files in one request. Made once: while copies are made, an idle connection can reach its end unseen. */
const tenFiles = new FormData()
const legalFile = new File([png], 'a.png')
for (let index = 0; index < 10; index += 1) tenFiles.append('others', legalFile)

function measures(
  runtime: string,
  begin: () => Promise<Measured>,
  legal: { requests: number; most: number },
  tries = 1,
) {
  describe(`uploads on ${runtime}`, async () => {
    const { running, watch } = await begin()
    afterAll(() => running.stop())
    const row: string[] = []

    it('refuse 1 GB against a cap of 10 MB at once, with hardly more memory', async () => {
      // The first upload loads what uploads need.
      const warm = new FormData()
      warm.append('image', new File([png.subarray(0, 1000)], 'a.png'))
      expect((await fetch(`${running.base}/photos`, { method: 'POST', body: warm })).status).toBe(
        201,
      )
      const grown = await watch()
      const { status, error, sent } = await flood(running.base, GIB, tries)
      const more = await grown()
      row.push(`${(sent / MIB).toFixed(1)} MiB`, `${(more / MIB).toFixed(1)} MiB`)
      expect([status, error]).toEqual([400, 'File upload error: File too large'])
      expect(sent).toBeLessThanOrEqual(12 * MIB + IN_BUFFERS)
      expect(more).toBeLessThan(64 * MIB)
    })

    it(`take ${legal.requests} requests of ten legal files of 10 MB at once`, async () => {
      const grown = await watch()
      const answers = await Promise.all(
        Array.from({ length: legal.requests }, () =>
          fetch(`${running.base}/photos`, { method: 'POST', body: tenFiles }),
        ),
      )
      const more = await grown()
      row.push(`${(more / MIB).toFixed(1)} MiB (${legal.requests} requests)`)
      table.push(`| ${runtime} | ${row.join(' | ')} |`)
      expect(answers.map(({ status }) => status)).toEqual(Array(legal.requests).fill(201))
      expect(more).toBeLessThan(legal.most)
    }, 300_000)
  })
}

for (const [runtime, command] of Object.entries(runtimes)) {
  const server = fileURLToPath(new URL(`servers/${runtime.toLowerCase()}.ts`, import.meta.url))
  const begin = async (): Promise<Measured> => {
    const root = await mkdtemp(join(tmpdir(), 'fieldgate-memory-'))
    const running = await start([...command.slice(0, -1), server], { FILES_ROOT: root })
    afterAll(() => rm(root, { recursive: true, force: true }))
    const peak = async (method: string) =>
      Number(await (await fetch(`${running.base}/peak`, { method })).text())
    return {
      running,
      async watch() {
        await peak('PUT')
        const before = await peak('GET')
        return async () => (await peak('GET')) - before
      },
    }
  }
  measures(runtime, begin, { requests: 2, most: 160 * MIB })
}

measures('workerd', startWorker, { requests: 1, most: 400 * MIB }, 10)

async function startWorker(): Promise<Measured> {
  const script = await bundled(new URL('./servers/worker.ts', import.meta.url))
  const before = await children()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script,
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      d1Databases: ['DB'],
      r2Buckets: ['FILES'],
      host: '127.0.0.1',
      port: 0,
    }),
  )
  const base = (await miniflare.ready).origin
  const [pid] = (await children()).filter((child) => !before.includes(child))
  const status = async (): Promise<number> => {
    const text = await readFile(`/proc/${pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1]) * 1024
  }
  return {
    running: { base, startedInMs: 0, stop: () => miniflare.dispose() },
    async watch() {
      const start = await status()
      let most = start
      const look = async () => {
        most = Math.max(most, await status().catch(() => 0))
      }
      const timer = setInterval(look, 10)
      return async () => {
        clearInterval(timer)
        return Math.max(most, await status()) - start
      }
    },
  }
}

/** The workerd processes that this one has started. */
async function children(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found: string[] = []
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    if (stat.includes('(workerd)') && stat.split(') ')[1]?.split(' ')[1] === `${process.pid}`)
      found.push(pid)
  }
  return found
}
