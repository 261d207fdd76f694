/**
 * `npm run bench:streams [-- --streams 10000]`: what open live lists cost on Node: memory and processor time of a server
 * with many that are idle, and of a write while 1,000 are open that it does not concern. `--built` takes the build.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildServers } from './build.ts'
import { LiveServer } from './live-server.ts'
import { machineLine } from './results.ts'

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    others: { type: 'string', default: '1000' },
    writes: { type: 'string', default: '2000' },
    idle: { type: 'string', default: '20' },
    built: { type: 'boolean', default: false },
  },
})
const [streams, others] = [Number(values.streams), Number(values.others)]
const [writes, idleMs] = [Number(values.writes), Number(values.idle) * 1000]

async function idle(): Promise<void> {
  const server = new LiveServer(values.built)
  await server.start()
  await server.open(10)
  const before = await server.memory()
  await server.open(streams)
  await pause(5000)
  const use = await server.used(() => pause(idleMs))
  const after = await server.memory()
  const each = ((after - before) * 1024) / streams
  const share = (use / 1000 / idleMs) * 100
  console.log(
    `${streams} idle streams: ${after.toFixed(0)} MiB (${before.toFixed(0)} MiB without; ${each.toFixed(1)} KiB each), ${share.toFixed(1)} % of a core`,
  )
  server.stop()
}

async function write(): Promise<void> {
  const costs: number[] = []
  const server = new LiveServer(values.built)
  await server.start()
  await server.write(500)
  for (const count of [0, others]) {
    await server.open(count)
    await pause(1000)
    costs.push((await server.used(() => server.write(writes))) / writes)
  }
  const [without = 0, with_ = 0] = costs
  console.log(
    `an insert and an update: ${without.toFixed(0)} µs, with ${others} streams on other filters ${with_.toFixed(0)} µs (${(with_ / without).toFixed(2)} times)`,
  )
  server.stop()
}

if (values.built) await buildServers()
console.log(machineLine())
await write()
await idle()
process.exit(0)
