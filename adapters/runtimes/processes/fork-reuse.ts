/** Processes of Deno and Bun that listen on one port: the kernel hands out the connections. */

import { fork } from 'node:child_process'
import process from 'node:process'
import type { ForkWith } from './first.ts'

export const reuseFork: ForkWith = (variables) => {
  const [, program = '', ...args] = process.argv
  return fork(program, args, { env: { ...process.env, ...variables } })
}
