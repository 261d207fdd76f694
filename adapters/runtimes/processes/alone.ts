/**
 * `#processes` where a process never has others beside it: in Workers and browsers.
 *
 * @module
 */

import type { Topic } from '../../../src/ports/services/processes.ts'

export const isWorker = false

export function topic<Question, Answer>(_name: string): Topic<Question, Answer> {
  return { ask: () => Promise.reject(new Error('there is one process')), answer() {} }
}

export async function isSecretOfAll(_secret: string): Promise<boolean> {
  return true
}

export const countOfAll: undefined = undefined
