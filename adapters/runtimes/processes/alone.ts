/**
 * `#processes` where a process never has others beside it: in Workers and browsers.
 *
 * @module
 */

import type { Topic } from '../../../src/ports/services/processes.ts'

/** No process has been started by another one. */
export const isWorker = false

/** A topic that nobody asks about. */
export function topic<Question, Answer>(_name: string): Topic<Question, Answer> {
  return { ask: () => Promise.reject(new Error('there is one process')), answer() {} }
}

/** This process has the only secret. */
export async function isSecretOfAll(_secret: string): Promise<boolean> {
  return true
}

/** There is one process. */
export const countOfAll: undefined = undefined
