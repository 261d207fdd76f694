/**
 * A server over three members of MongoDB that fail in one way after the other, under writers: `npm run faults -- mongodb`.
 * Members and server know each member through a gate of its own, so that faults of the network meet both.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { type Gate, gateTo } from '../../services/gate.ts'
import { type ReplicaSet, startReplicaSet } from '../../services/replica-set.ts'
import { allNotes, keepWriting } from '../notes/clients.ts'
import { Ledger, type StoredNote } from '../notes/ledger.ts'
import { type NotesProcess, startNotes } from '../notes/process.ts'
import { part, type Report } from '../report.ts'

interface Place {
  readonly set: ReplicaSet
  readonly gates: readonly Gate[]
}

interface Fault {
  /** How long it lasts. */
  readonly seconds: number
  /** The returned function ends it. */
  begin(place: Place): Promise<() => Promise<unknown>>
}

/** A fault of every gate. */
function everyGate(seconds: number, harm: (gate: Gate) => unknown): Fault {
  return {
    seconds,
    async begin({ gates }) {
      await Promise.all(gates.map(harm))
      return () => Promise.all(gates.map((gate) => gate.open()))
    },
  }
}

const faults: Readonly<Record<string, Fault>> = {
  stepdown: {
    seconds: 5,
    async begin({ set }) {
      const primary = await set.primary()
      // The primary closes the connection on which it is told.
      await primary.command({ replSetStepDown: 10 }).catch(() => {})
      return async () => {}
    },
  },
  'kill -9 of the primary': {
    seconds: 10,
    async begin({ set }) {
      const primary = await set.primary()
      primary.signal('SIGKILL')
      return () => primary.restart()
    },
  },
  'primary stopped': {
    seconds: 15,
    async begin({ set }) {
      const primary = await set.primary()
      primary.signal('SIGSTOP')
      return async () => primary.signal('SIGCONT')
    },
  },
  '2 s latency': everyGate(10, (gate) => gate.slow(2000)),
  'all cut': everyGate(20, (gate) => gate.shut()),
  'all silent': everyGate(15, (gate) => gate.stick()),
  resets: everyGate(10, (gate) => gate.spoil('reset')),
  'half replies': everyGate(10, (gate) => gate.spoil('half')),
  garbage: everyGate(10, (gate) => gate.spoil('garbage')),
}

/** `npm run faults -- mongodb`. */
export const mongodb = part({
  about: 'a server over three members of MongoDB that fail',
  options: { rounds: 1, writers: 12, fault: '' },
  async run({ rounds, writers, fault }): Promise<Report> {
    const gates: Gate[] = []
    const set = await startReplicaSet(3, {
      async knownAs(port) {
        const gate = await gateTo(`tcp://127.0.0.1:${port}`)
        gates.push(gate)
        return gate.port
      },
    })
    const server = await startNotes({ store: set.url.replace('/?', '/faults?') })
    const rows = []
    let holds = true
    try {
      for (let round = 0; round < rounds; round += 1) {
        for (const name of fault ? [fault] : Object.keys(faults)) {
          const row = await under(name, { set, gates }, server, writers)
          holds &&= row.lost + row.phantom + row.resurrected + row.duplicate + row.other === 0
          rows.push(row)
        }
      }
    } finally {
      await server.kill()
      await set.stop()
      await Promise.all(gates.map((gate) => gate.shut()))
    }
    return { rows, holds }
  },
})

async function under(name: string, place: Place, { url }: NotesProcess, writers: number) {
  const fault = faults[name] as Fault
  const before = new Set((await allNotes(url)).map(({ _id }) => _id))
  const ledger = new Ledger()
  const stop = new AbortController()
  let [refused, other, slowestMs] = [0, 0, 0]
  const writing = keepWriting({
    count: writers,
    url: () => url,
    ledger,
    signal: stop.signal,
    refusalIsCertain: false,
    onFailure(reply, ms) {
      slowestMs = Math.max(slowestMs, ms)
      // A PATCH or DELETE of a note whose delete was refused, and happened, is a 404.
      if (reply?.status === 503) refused += 1
      else if (reply?.status !== 404) other += 1
    },
  })
  await delay(2000)
  const end = await fault.begin(place)
  await delay(fault.seconds * 1000)
  const acknowledged = ledger.acknowledged
  const endedAt = performance.now()
  const ended = end()
  const seconds = () => (performance.now() - endedAt) / 1000
  const primaryAfter = ended.then(() => place.set.primary()).then(seconds)
  while (ledger.acknowledged === acknowledged) await delay(5)
  const recoveredAfter = seconds()
  const primary = await primaryAfter
  await delay(2000)
  stop.abort()
  await writing
  const stored = await settled(url)
  return {
    fault: name,
    ...ledger.verdict(stored.filter(({ _id }) => !before.has(_id))),
    acknowledged: ledger.acknowledged,
    '503s': refused,
    other,
    'slowest failure s': (slowestMs / 1000).toFixed(1),
    'primary after s': primary.toFixed(1),
    'first success after s': recoveredAfter.toFixed(2),
  }
}

/** All notes, as soon as they can be read. */
async function settled(url: string): Promise<StoredNote[]> {
  for (;;) {
    try {
      return await allNotes(url)
    } catch {
      await delay(200)
    }
  }
}
