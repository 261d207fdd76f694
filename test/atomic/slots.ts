/**
 * Atomic steps at random over slots, and the oracle that finds the order in which they could have run one by one.
 *
 * A slot is a record whose `log` names the steps that have written it, in order. So every read tells which steps came
 * before it, and which did not.
 *
 * @module
 */

import * as z from 'zod'
import {
  type App,
  createApp,
  defineModel,
  HttpError,
  type RecordCollection,
  type RecordOf,
  type Store,
} from '../../src/index.ts'

export const Slot = defineModel('AtomicSlot', {
  fields: { name: z.string().max(9), log: z.array(z.string()), note: z.number().default(0) },
  indexes: ['name'],
})

type Values = RecordOf<typeof Slot>

/** What a step has seen and done. */
export interface Step {
  readonly id: string
  /** The log of each slot that it has read; null for one that was not there. */
  readonly reads: Readonly<Record<string, readonly string[] | null>>
  readonly writes: readonly string[]
  readonly end: 'stored' | 'thrown' | 'overtaken'
  readonly runs: number
}

/** Slots that are there from the start, and slots that steps create. */
const THERE: readonly string[] = ['a', 'b', 'c', 'd']
const TO_COME: readonly string[] = ['v', 'w', 'x', 'y', 'z']

/** An app over the slots of `store`. */
export function slotsOn(store: Store): App {
  const app = createApp({ store, env: {} })
  app.store.collection(Slot)
  return app
}

/** Creates the slots that are there from the start. */
export async function fill(app: App): Promise<void> {
  for (const name of THERE) await app.store.collection(Slot).insert({ name, log: [] })
}

/** Does `count` steps at once, `tag` in their ids, while others change what steps read but do not log. */
export async function runSteps(app: App, tag: string, count: number): Promise<Step[]> {
  const slots = app.store.collection(Slot)
  const found = await slots.find({ name: THERE }, { sort: 'name' })
  const ids = found.map(({ _id }) => _id)
  const steps = Promise.all(
    Array.from({ length: count }, (_, at) => runStep(app, `${tag}${at}`, ids)),
  )
  const noise = Promise.all(
    Array.from({ length: Math.ceil(count / 4) }, () =>
      slots.update(oneOf(ids), { note: Math.floor(Math.random() * 1e6) }),
    ),
  )
  await noise
  return steps
}

async function runStep(app: App, id: string, ids: readonly string[]): Promise<Step> {
  const picked = [...THERE, ...TO_COME].sort(() => Math.random() - 0.5)
  const names = picked.slice(0, 1 + Math.floor(Math.random() * 3))
  const throws = Math.random() < 0.1
  let seen: Record<string, readonly string[] | null> = {}
  let written: string[] = []
  let runs = 0
  const told = (end: Step['end']): Step => ({ id, reads: seen, writes: written, end, runs })
  try {
    await app.store.atomic(async (tx) => {
      runs += 1
      seen = {}
      written = []
      const slots = tx.collection(Slot)
      for (const name of names) {
        const slot = await findOne(slots, name, ids)
        seen[name] = slot?.log ?? null
        // Others get a turn.
        if (Math.random() < 0.5) await new Promise((resolve) => setTimeout(resolve))
        if (Math.random() < 0.4) continue
        written.push(name)
        await log(slots, name, slot, id)
      }
      if (throws) throw new HttpError(418, 'thrown')
    })
    return told('stored')
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    if (error.status === 418) return told('thrown')
    if (error.status === 409) return told('overtaken')
    throw error
  }
}

/** Notes the step in a slot. */
async function log(
  slots: RecordCollection<Values>,
  name: string,
  slot: Values | null,
  id: string,
): Promise<void> {
  if (slot) await slots.update(slot._id, { log: [...slot.log, id] })
  else await slots.insert({ name, log: [id], note: 0 } as Values)
  const own = await slots.findOne({ name })
  if (own?.log.at(-1) !== id) throw new Error(`${id} does not see its own write of ${name}`)
}

/** The slot with this name, in one of the ways in which a single record is read. */
async function findOne(
  slots: RecordCollection<Values>,
  name: string,
  ids: readonly string[],
): Promise<Values | null> {
  const id = ids[THERE.indexOf(name)]
  const way = Math.random()
  if (id === undefined || way < 0.3) return slots.findOne({ name })
  if (way < 0.6) return slots.findById(id)
  const [found] = await slots.find({ _id: [id] }, { select: ['log' as string] })
  return found ?? null
}

function oneOf<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)] as T
}

/** What is wrong with the steps and what they have left, as sentences. */
export async function faultsOf(app: App, steps: readonly Step[]): Promise<string[]> {
  const found = await app.store.collection(Slot).find()
  const twice = found.filter(({ name }, at) => found.findIndex((one) => one.name === name) < at)
  const final = new Map(found.map(({ name, log }) => [name, log as readonly string[]]))
  // What throws has seen a state, too, and left it as it was.
  const seen = steps.map((one) => (one.end === 'stored' ? one : { ...one, writes: [] }))
  const counted = seen.filter(({ end }) => end !== 'overtaken')
  const faults = twice.map(({ name }) => `slot ${name} was created twice`)
  for (const { id, end, writes } of steps) {
    for (const [name, log] of final) {
      const times = log.filter((one) => one === id).length
      const expected = end === 'stored' && writes.includes(name) ? 1 : 0
      if (times !== expected) faults.push(`${end} ${id} is ${times} times in ${name}`)
    }
  }
  return [...faults, ...replayed(counted, final)]
}

/** Runs the steps one by one, each as soon as it would have read what it has read. */
function replayed(steps: readonly Step[], final: ReadonlyMap<string, readonly string[]>): string[] {
  const state = new Map<string, readonly string[]>(THERE.map((name) => [name, []]))
  const left = new Set(steps)
  const fits = ({ reads }: Step) =>
    Object.entries(reads).every(
      ([name, log]) => JSON.stringify(state.get(name) ?? null) === JSON.stringify(log),
    )
  /** Whether others have read what the step replaces: they come first. */
  const isWaitedFor = (step: Step) =>
    [...left].some(
      (other) =>
        other !== step &&
        step.writes.some(
          (name) =>
            name in other.reads &&
            JSON.stringify(other.reads[name]) === JSON.stringify(state.get(name) ?? null),
        ),
    )
  while (left.size > 0) {
    const next = [...left].find((step) => fits(step) && !isWaitedFor(step))
    if (!next) return [`no order explains ${[...left].map(({ id }) => id).join(', ')}`]
    left.delete(next)
    for (const name of next.writes) state.set(name, [...(state.get(name) ?? []), next.id])
  }
  return [...final].flatMap(([name, log]) =>
    JSON.stringify(state.get(name)) === JSON.stringify(log) ? [] : [`${name} holds ${log}`],
  )
}
