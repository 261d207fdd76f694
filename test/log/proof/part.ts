/**
 * `npm run faults -- log --store sqlite`: the whole proof of the log and of live lists.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { part } from '../../faults/report.ts'
import { runs } from '../../runs.ts'
import { mongo } from '../../services/mongo.ts'
import { postgres } from '../../services/postgres.ts'
import { prove } from './prove.ts'
import type { Place } from './world.ts'

const PLACES: Readonly<Record<string, () => Promise<{ place: Place; end(): unknown }>>> = {
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'fieldgate-log-'))
    return {
      place: { sqlite: join(folder, 'log.db') },
      end: () => rmSync(folder, { recursive: true }),
    }
  },
  async postgres() {
    const { url, stop } = await postgres()
    return { place: { postgres: url, schema: `proof_${crypto.randomUUID()}` }, end: stop }
  },
  async mongodb() {
    const { url, stop } = await mongo()
    return { place: { mongodb: url, database: `proof-${crypto.randomUUID()}` }, end: stop }
  },
}

export const log = part({
  about: 'eight writers, servers that are killed, clients whose connections are cut',
  options: { store: 'sqlite', writes: runs(100_000), cuts: runs(1000), kills: runs(20) },
  async run({ store, ...size }) {
    const open = PLACES[store]
    if (!open) throw new TypeError(`--store is one of ${Object.keys(PLACES).join(', ')}`)
    const { place, end } = await open()
    const { faults, wrong, outOfOrder, seconds, ...done } = await prove(place, size)
    await end()
    for (const fault of [...faults, ...wrong].slice(0, 20)) console.log(fault)
    const row = {
      ...{ store, ...done, 'log: faults': faults.length, 'events out of order': outOfOrder },
      ...{ 'lists that differ': wrong.length, 'seconds of writing': Math.round(seconds) },
    }
    return { rows: [row], holds: faults.length + wrong.length + outOfOrder === 0 }
  },
})
