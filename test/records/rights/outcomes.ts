/**
 * What a write must come to, by the rules.
 *
 * @module
 */

import type { Fields } from '../../../src/index.ts'
import type { Caller } from './app.ts'
import { type Oracle, Sight, within } from './oracle.ts'
import type { Action, Limits, RouterRules } from './programme.ts'
import { flat } from './reading.ts'

/** A write that a client asks for. */
export type Write =
  | { readonly kind: 'create'; readonly rules: RouterRules; readonly values: Fields }
  | {
      readonly kind: 'update'
      readonly rules: RouterRules
      readonly id: string
      readonly values: Fields
    }
  | { readonly kind: 'remove'; readonly rules: RouterRules; readonly id: string }
  | {
      readonly kind: 'restore'
      readonly rules: RouterRules
      readonly id: string
      readonly changeId: string
    }

/** What it comes to: a refusal, or the record as it is then (null if it is removed), and what is shown of it. */
export type Outcome =
  | {
      readonly status: 200 | 201
      readonly was: Fields | undefined
      readonly is: Fields | null
      readonly shown: unknown
    }
  | { readonly status: 400 | 401 | 403 | 404 | 405 | 412 | 422 }

/** Stands for the id of a record that is not made yet. */
export const NEW_ID = 'new'

/** What clients may not write, or could write themselves into a scope. */
const closedBy = (limits: readonly Limits[] | undefined) =>
  new Set((limits ?? []).flatMap((one) => Object.keys(one)))

function payload(
  values: Fields,
  allowed: readonly string[],
  limits: readonly Limits[] | undefined,
): Fields {
  const closed = closedBy(limits)
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => allowed.includes(name) && !closed.has(name)),
  )
}

const isEmpty = (values: Fields) => Object.keys(values).length === 0

/** A record without what was cleared. */
const cleared = (record: Fields): Fields =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))

/** What is shown of a record that is written: with what refers to it as it is then. */
function shownOf(oracle: Oracle, sight: Sight, is: Fields, isPlain: boolean): Fields {
  if (!sight.sees(is)) return { _id: is._id }
  const id = String(is._id)
  const was = oracle.docs.get(id)
  oracle.docs.set(id, is)
  const shown = sight.shown(is, {}, isPlain)
  if (was) oracle.docs.set(id, was)
  else oracle.docs.delete(id)
  return shown
}

function created(oracle: Oracle, sight: Sight, values: Fields, _id = NEW_ID): Outcome {
  const limits = sight.limits('write')
  const kept = payload(values, sight.rules.allowed.create, limits)
  if (isEmpty(kept)) return { status: 400 }
  const [first = {}, ...others] = limits ?? []
  const common = Object.entries(first).filter(([name, value]) =>
    others.every((other) => other[name] === value),
  )
  const is = { _id, ...kept, ...Object.fromEntries(common) } as Fields
  if (is.title === undefined) return { status: 400 }
  if (!within(is, limits)) return { status: 403 }
  const shown = shownOf(oracle, sight, is, true)
  return { status: 201, was: undefined, is, shown }
}

function updated(oracle: Oracle, sight: Sight, was: Fields | undefined, values: Fields): Outcome {
  const limits = sight.limits('write')
  const kept = payload(values, sight.rules.allowed.update, limits)
  if (isEmpty(kept)) return { status: 400 }
  if (!was || !within(was, limits)) return { status: 404 }
  const is = cleared({ ...was, ...kept })
  return { status: 200, was, is, shown: shownOf(oracle, sight, is, false) }
}

function restored(
  oracle: Oracle,
  sight: Sight,
  id: string,
  changeId: string,
  caller: Caller,
): Outcome {
  const { rules } = sight
  const limits = sight.limits('write')
  const changes = oracle.changesOf(id)
  const current = oracle.docs.get(id)
  const last = current ?? changes.at(-1)?.before
  if (!last || !within(last, limits)) return { status: 404 }
  const change = changes.find((one) => one.id === changeId)
  const then = change?.after ?? change?.before
  if (!then || !within(then, limits) || !sight.sees(then)) return { status: 404 }
  if (!current) {
    const who =
      rules.access.create === 'no'
        ? undefined
        : oracle.judge(rules, 'create', asRestorer(rules, caller, 'create'))
    return typeof who === 'number' ? { status: who as 403 } : created(oracle, sight, then, id)
  }
  const names = rules.allowed.update
  const changed = names.filter((name) => flat(current[name]) !== flat(then[name]))
  const values = (changed.length > 0 ? changed : names).flatMap((name) =>
    then[name] === undefined
      ? changed.includes(name)
        ? [[name, null]]
        : []
      : [[name, then[name]]],
  )
  return updated(oracle, sight, current, Object.fromEntries(values))
}

/** What `write` by `caller` comes to. */
export function outcomeOf(oracle: Oracle, write: Write, caller: Caller): Outcome {
  const { rules, kind } = write
  const who =
    kind === 'restore' ? restorer(oracle, rules, caller) : oracle.judge(rules, kind, caller)
  if (typeof who === 'number') return { status: who as 403 }
  const sight = new Sight(oracle, rules, who)
  if (kind === 'create') return created(oracle, sight, write.values)
  if (kind === 'restore') return restored(oracle, sight, write.id, write.changeId, caller)
  const was = oracle.docs.get(write.id)
  if (kind === 'update') return updated(oracle, sight, was, write.values)
  if (!was || !within(was, sight.limits('write'))) return { status: 404 }
  return { status: 200, was, is: null, shown: undefined }
}

/** Who restores must pass the guards of an update, too; a key is asked for the restore alone. */
export function restorer(oracle: Oracle, rules: RouterRules, caller: Caller) {
  const who = oracle.judge(rules, 'restore', caller)
  if (typeof who === 'number' || rules.access.update === 'no') return who
  return oracle.judge(rules, 'update', asRestorer(rules, caller, 'update')) ?? who
}

/** `caller`, whose key allows `action` if it allows a restore. */
function asRestorer({ mount }: RouterRules, caller: Caller, action: Action): Caller {
  const { allow } = caller
  if (!allow) return caller
  const actions = allow[mount]?.includes('restore') ? [action] : []
  return { ...caller, allow: { [mount]: actions } }
}
