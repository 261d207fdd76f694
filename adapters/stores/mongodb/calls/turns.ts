/**
 * Writes that require or change the same record, and so would conflict, take turns; those that wait share a
 * transaction. Of 50 creates at a time that refer to one record, each takes 2 ms; without turns, 12 to 17 ms. So do short
 * writes that the log of changes notes, whatever they are about: the log costs as much for one of them as for many.
 */

import { nextTurn } from '../../../../src/ports/promises/turns.ts'
import type { StepResult, WriteStep } from '../../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { filterOf } from '../../planner/steps.ts'
import type { StepChange } from '../changes/log.ts'
import { hasLabel, portError } from '../connection/errors.ts'

interface Done {
  readonly results: readonly StepResult[]
  readonly noted?: readonly StepChange[]
}

export type Outcome = Done | { readonly failed: number }
type Write = (steps: readonly WriteStep[]) => Promise<Outcome>

interface Call extends PromiseWithResolvers<Outcome> {
  readonly steps: readonly WriteStep[]
}

/** The most writes that share a transaction: of the same record, and of any. */
const MOST = 50
const MOST_TOGETHER = 16

/** `write`, called once at a time for writes whose first record is the same. */
export function takingTurns(write: Write): Write {
  return queued(keyOf, write, async (calls) => {
    const some = calls.splice(0, MOST)
    if (some.length > 1 && (await areTaken(some, write))) return
    for (const { steps, resolve } of some) {
      const outcome = write(steps)
      resolve(outcome)
      await outcome.catch(() => {})
    }
  })
}

/** `write`, called once at a time for writes of all kinds. Those that can't go together are written by `alone`, at once. */
export function goingTogether(write: Write, alone: Write): Write {
  return queued(
    () => '',
    write,
    async (calls) => {
      const some = calls.splice(0, MOST_TOGETHER)
      if (!(await areTaken(some, write))) {
        for (const { steps, resolve } of some) resolve(alone(steps))
      }
      // Those who go on to write at once join the next ones.
      await nextTurn()
    },
  )
}

/** Calls with the same key wait for each other, and `take` takes some of those that wait; calls without one are `free`. */
function queued(
  keyIn: (steps: readonly WriteStep[]) => string | undefined,
  free: Write,
  take: (calls: Call[]) => Promise<void>,
): Write {
  const waiting = new Map<string, Call[]>()
  const serve = async (key: string, calls: Call[]) => {
    while (calls.length > 0) await take(calls)
    waiting.delete(key)
  }
  return (steps) => {
    const key = keyIn(steps)
    if (key === undefined) return free(steps)
    const call: Call = { steps, ...Promise.withResolvers<Outcome>() }
    const calls = waiting.get(key) ?? []
    calls.push(call)
    if (!waiting.has(key)) {
      waiting.set(key, calls)
      void serve(key, calls)
    }
    return call.promise
  }
}

/** Whether the calls have their results, from one transaction; if one of several fails, it has written nothing. */
async function areTaken(calls: readonly Call[], write: Write): Promise<boolean> {
  const only = calls.length === 1 ? calls[0] : undefined
  try {
    const outcome = await write(calls.flatMap(({ steps }) => steps))
    if (!('failed' in outcome)) resolveEach(calls, outcome)
    else if (only) only.resolve(outcome)
    else return false
    return true
  } catch (error) {
    if (hasLabel(error, 'TransientTransactionError')) return false
    // It may have been written after all.
    if (!only && !(portError(error) instanceof StoreUnavailable)) return false
    for (const { reject } of calls) reject(error)
    return true
  }
}

function resolveEach(calls: readonly Call[], { results, noted }: Done): void {
  let to = 0
  for (const { steps, resolve } of calls) {
    const from = to
    to += steps.length
    const own = noted?.filter(({ step }) => step >= from && step < to)
    resolve({ results: results.slice(from, to), ...(own && { noted: own }) })
  }
}

/** The first guard of the steps, or the first record that they require or change; undefined if there is no single one. */
function keyOf(steps: readonly WriteStep[]): string | undefined {
  const first = steps.find(
    (step) =>
      'guard' in step || 'update' in step || 'delete' in step || ('require' in step && step.exists),
  )
  if (!first) return undefined
  return 'guard' in first ? first.guard : JSON.stringify([first.in.name, filterOf(first)])
}
