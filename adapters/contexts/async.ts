/**
 * A value for the running code that follows it through promises: the `AsyncLocalStorage` of every runtime.
 *
 * It is taken from `process`, not imported: on Workers without `nodejs_compat` the import could not be deployed.
 *
 * @module
 */

import type { AsyncContext } from '../../src/ports/async-context.ts'

/** A context for a value of the running code. Without `AsyncLocalStorage` it is always empty. */
export function asyncContext<T>(): AsyncContext<T> {
  const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')
  return hooks
    ? new hooks.AsyncLocalStorage<T>()
    : { run: (_value, work) => work(), getStore: () => undefined }
}
