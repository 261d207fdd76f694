/**
 * A value for the running code that follows it through promises: the `AsyncLocalStorage` of every runtime.
 *
 * It is taken from `process`, not imported: on Workers without `nodejs_compat` the import could not be deployed.
 *
 * @module
 */

import type { AsyncContext } from '../../src/ports/services/async-context.ts'

const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')

const atStart = hooks?.AsyncLocalStorage.snapshot?.()

/**
 * Runs what no request is about: what has begun within one, such as a timer, would otherwise belong to it for ever, with its
 * trace and the ids of its lines in the log. On Workers the start belongs to a request if that has loaded this module, and
 * others are refused.
 */
export function outside<R>(work: () => R): R {
  let hasBegun = false
  const begin = () => {
    hasBegun = true
    return work()
  }
  try {
    return atStart ? atStart(begin) : work()
  } catch (error) {
    if (hasBegun || !atStart) throw error
    return work()
  }
}

/** A context for a value of the running code. Without `AsyncLocalStorage` it is always empty. */
export function asyncContext<T>(): AsyncContext<T> {
  return hooks
    ? new hooks.AsyncLocalStorage<T>()
    : { run: (_value, work) => work(), getStore: () => undefined }
}
