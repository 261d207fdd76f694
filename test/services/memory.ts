/**
 * Where the databases of tests are: in memory where there is room. On a disk, each write waits for it, and four files of
 * tests for each other's.
 *
 * @module
 */

import { existsSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const GIB = 1024 ** 3
/** What the databases of tests take when four run, and more; and what is left for their processes. */
const ROOM_BYTES = 4 * GIB
const LEFT_BYTES = 4 * GIB

/** The folder for theirs, as `tmpdir()` is for others: Deno lets only those in that have all rights. */
export function databases(): string {
  return hasRoom() ? MEMORY : tmpdir()
}

function hasRoom(): boolean {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= ROOM_BYTES && freemem() >= ROOM_BYTES + LEFT_BYTES
}

/** Removes what runs have left that were killed: `prefix`, the number of the process, and what tells its folders apart. */
export function removeLeft(prefix: string): void {
  const folder = databases()
  for (const name of readdirSync(folder).filter((one) => one.startsWith(prefix))) {
    const [, pid] = /^(\d+)-/.exec(name.slice(prefix.length)) ?? []
    if (pid === undefined || isRunning(Number(pid))) continue
    try {
      rmSync(join(folder, name), { recursive: true, force: true })
    } catch {
      // That of another account stays.
    }
  }
}

/** Whether there is a process with this number. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // One of another account.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
