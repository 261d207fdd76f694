/**
 * Clients that go away in the middle of an upload, on each runtime.
 */

import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it, vi } from 'vitest'
import { runtimes, start } from '../../http/runtimes.ts'
import { runs } from '../../runs.ts'

const CUTS = runs(40)
const AT_ONCE = 10
/** Connections that are kept alive come and go. */
const SPARE = 6
const MIB = 1024 * 1024
/** The last of the broken uploads may still be on its way out when the others are gone. */
const PATIENCE = { timeout: 100_000, interval: 50 }
/** What a runtime may leave to be collected, however many uploads there were. */
const GARBAGE = 192 * MIB

const table = [
  '| runtime | uploads cut | open files before → after | more memory |',
  '|---|---|---|---|',
]
afterAll(() => console.log(table.join('\n')))

const png = Buffer.alloc(700_000)
png.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const part = (name: string) =>
  `--cut\r\nContent-Disposition: form-data; name="${name}"; filename="a.png"\r\n\r\n`
const body = Buffer.concat([
  Buffer.from(part('image')),
  png,
  Buffer.from(`\r\n${part('others')}`),
  png,
  Buffer.from('\r\n--cut--\r\n'),
])

/** Sends a part of the body, then ends the connection: rudely, or as a browser does that is closed. */
async function cutOne(base: string): Promise<void> {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(
    `POST /photos HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${body.length}\r\n` +
      'Content-Type: multipart/form-data; boundary=cut\r\n\r\n',
  )
  const sent = body.subarray(0, Math.floor(Math.random() * (body.length - 10)))
  await new Promise<void>((resolve) => socket.write(sent, () => resolve()))
  if (Math.random() < 0.5) socket.resetAndDestroy()
  else socket.destroy()
  await once(socket, 'close')
}

async function cutMany(base: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => cutOne(base)))
  }
}

for (const [runtime, command] of Object.entries(runtimes)) {
  it(`uploads that are cut leave nothing open, stored or saved on ${runtime}`, async () => {
    const root = await mkdtemp(join(tmpdir(), 'fieldgate-cut-'))
    const server = fileURLToPath(new URL(`servers/${runtime.toLowerCase()}.ts`, import.meta.url))
    const running = await start([...command.slice(0, -1), server], { FILES_ROOT: root })
    try {
      const ask = async (path: string) => (await fetch(`${running.base}${path}`)).json()
      await cutMany(running.base, Math.ceil(CUTS / 2))
      const open = await fallen(() => ask('/open'), 0, 2000)
      const memory = await ask('/rss')
      await cutMany(running.base, CUTS)
      const after = await fallen(() => ask('/open'), open + SPARE, 60_000)
      const more = (await ask('/rss')) - memory
      table.push(`| ${runtime} | ${CUTS} | ${open} → ${after} | ${(more / MIB).toFixed(1)} MiB |`)
      expect(after).toBeLessThanOrEqual(open + SPARE)
      expect(more).toBeLessThan(GARBAGE)
      expect((await ask('/photos')).data).toEqual([])
      await vi.waitFor(async () => expect(await filesIn(root)).toEqual([]), PATIENCE)
    } finally {
      await running.stop()
      await rm(root, { recursive: true })
    }
  }, 600_000)
}

/** The files below `folder`. One may go while it is being looked at. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

/** A number once it has fallen to `most`, or its lowest: the server hears of a broken connection a moment later. */
async function fallen(ask: () => Promise<number>, most: number, patience: number): Promise<number> {
  const until = performance.now() + patience
  let lowest = await ask()
  while (lowest > most && performance.now() < until) {
    await wait(100)
    lowest = Math.min(lowest, await ask())
  }
  return lowest
}
