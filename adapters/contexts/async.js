/* @ts-self-types="./async.d.ts" */
/**
 * Which request some code runs for, however many promises lie between: `AsyncLocalStorage` of every runtime.
 *
 * Asked of the process, not imported: on Workers without `nodejs_compat` an import could not be deployed.
 *
 * @module
 */

/** A place for the value of the code that runs now. Without an `AsyncLocalStorage` it is always empty. */
export function asyncContext() {
  const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')
  return hooks
    ? new hooks.AsyncLocalStorage()
    : { run: (_value, work) => work(), getStore: () => undefined }
}
