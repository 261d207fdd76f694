/**
 * Which request some code runs for, however many promises lie between: `AsyncLocalStorage` of every runtime.
 *
 * Asked of the process, not imported: on Workers without `nodejs_compat` an import could not be deployed.
 *
 * @module
 */

import type { AsyncContext } from '../../src/ports/async-context.ts'

/** A place for the value of the code that runs now. Without an `AsyncLocalStorage` it is always empty. */
export function asyncContext<T>(): AsyncContext<T> {
  const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')
  return hooks
    ? new hooks.AsyncLocalStorage<T>()
    : { run: (_value, work) => work(), getStore: () => undefined }
}
