/**
 * Writes that require or change the same record, and so would conflict, take turns; those that wait share a
 * transaction. Of 50 creates at a time that refer to one record, each takes 2 ms; without turns, 12 to 17 ms. So do short
 * writes that the log of changes notes, whatever they are about: the log costs as much for one of them as for many.
 */

import { nextTurn } from '../../../../src/ports/promises/turns.ts'
import type { StepResult, WriteStep } from '../../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { type Call, queued } from '../../gather.ts'
import { filterOf } from '../../planner/steps.ts'
import type { StepChange } from '../changes/log.ts'
import { hasLabel, portError } from '../connection/errors.ts'

interface Done {
  readonly results: readonly StepResult[]
  readonly noted?: readonly StepChange[]
}

export type Outcome = Done | { readonly failed: number }
type Steps = readonly WriteStep[]
type Write = (steps: Steps) => Promise<Outcome>
type Waiting = Call<Steps, Outcome>

/** The most writes that share a transaction: of the same record, and of any. */
const MOST = 50
const MOST_TOGETHER = 16

/** `write`, called once at a time for writes whose first record is the same. */
export function takingTurns(write: Write): Write {
  const inTurn = queued<Steps, Outcome>(async (calls) => {
    const some = calls.splice(0, MOST)
    if (some.length > 1 && (await areTaken(some, write))) return
    for (const { item, resolve } of some) {
      const outcome = write(item)
      resolve(outcome)
      await outcome.catch(() => {})
    }
  })
  return (steps) => {
    const key = keyOf(steps)
    return key === undefined ? write(steps) : inTurn(steps, key)
  }
}

/** `write`, called once at a time for writes of all kinds. Those that can't go together are written by `alone`, at once. */
export function goingTogether(write: Write, alone: Write): Write {
  return queued<Steps, Outcome>(async (calls) => {
    const some = calls.splice(0, MOST_TOGETHER)
    if (!(await areTaken(some, write))) for (const { item, resolve } of some) resolve(alone(item))
    // Those who go on to write at once join the next ones.
    await nextTurn()
  })
}

/** Whether the calls have their results, from one transaction; if one of several fails, it has written nothing. */
async function areTaken(calls: readonly Waiting[], write: Write): Promise<boolean> {
  const only = calls.length === 1 ? calls[0] : undefined
  try {
    const outcome = await write(calls.flatMap(({ item }) => item))
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

function resolveEach(calls: readonly Waiting[], { results, noted }: Done): void {
  let to = 0
  for (const { item, resolve } of calls) {
    const from = to
    to += item.length
    const own = noted?.filter(({ step }) => step >= from && step < to)
    resolve({ results: results.slice(from, to), ...(own && { noted: own }) })
  }
}

/** The first guard of the steps, or the first record that they require or change; undefined if there is no single one. */
function keyOf(steps: Steps): string | undefined {
  const first = steps.find(
    (step) =>
      'guard' in step || 'update' in step || 'delete' in step || ('require' in step && step.exists),
  )
  if (!first) return undefined
  return 'guard' in first ? first.guard : JSON.stringify([first.in.name, filterOf(first)])
}
