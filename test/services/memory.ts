/**
 * The temporary folder of a run, in memory: on a disk, each write of a database waits for it, and four files of tests for
 * each other's.
 *
 * @module
 */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { isRunning } from './server.ts'

const MEMORY = '/dev/shm'
const PREFIX = 'fieldgate-tests-'
const GIB = 1024 ** 3
/** What the files of tests take when four run, and more; and what is left for their processes. */
const ROOM_BYTES = 6 * GIB
const LEFT_BYTES = 4 * GIB

/** Makes it, and has `tmpdir()` lead to it from now on, here and in all that is started; returns what removes it. */
export function beginInMemory(): () => void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return () => {}
  removeLeft()
  const folder = join(MEMORY, `${PREFIX}${process.pid}`)
  mkdirSync(folder, { recursive: true })
  // As the system's own: PostgreSQL has an account of its own.
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  return () => {
    delete process.env.TMPDIR
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Those of runs that were killed. */
function removeLeft(): void {
  for (const name of readdirSync(MEMORY).filter((one) => one.startsWith(PREFIX))) {
    if (isRunning(Number(name.slice(PREFIX.length)))) continue
    try {
      rmSync(join(MEMORY, name), { recursive: true, force: true })
    } catch {
      // That of another account stays.
    }
  }
}

function hasRoom(): boolean {
  if (!existsSync(MEMORY) || !canRunPrograms()) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= ROOM_BYTES && freemem() >= ROOM_BYTES + LEFT_BYTES
}

/** Containers may have it without: new projects run there what they have installed. */
function canRunPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const [, , , options = ''] = mounts.find((one) => one.split(' ')[1] === MEMORY)?.split(' ') ?? []
  return options !== '' && !options.split(',').includes('noexec')
}
