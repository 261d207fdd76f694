/**
 * Processors: one for the server that is measured, the others for what loads it.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Keeps this process, and all that it starts from now on, away from one processor, and returns the command that starts a program there.
 * The command is empty where there is only one, or no `taskset`.
 */
export function pinned(): readonly string[] {
  const status = readFileSync('/proc/self/status', 'utf8')
  const [first = '', ...others] = expanded(/Cpus_allowed_list:\s+(\S+)/.exec(status)?.[1] ?? '')
  if (others.length === 0) return []
  const { error } = spawnSync('taskset', ['-cp', others.join(','), String(process.pid)])
  return error ? [] : ['taskset', '-c', first]
}

/** `0-2,5` as the numbers 0, 1, 2 and 5. */
function expanded(list: string): string[] {
  return list.split(',').flatMap((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, at) => String(from + at))
  })
}
