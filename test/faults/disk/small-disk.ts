/**
 * A disk that is soon full, for one process: a file system of its own where the system allows one, else a limit on the
 * size of its files.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A disk of a few megabytes. */
export interface SmallDisk {
  readonly kind: 'a tmpfs' | 'a limit on file sizes'
  /** Its folder, as the process sees it that `wrapper` runs. */
  readonly folder: string
  /** What comes before the command of that process. */
  readonly wrapper: readonly string[]
  /** Its folder, as others see it while the process `pid` runs. */
  seenFrom(pid: number): string
  /** Gives room that it did not have before. */
  makeRoom(pid: number): Promise<void>
  remove(): Promise<void>
}

const MIB = 1024 * 1024
const SIZE = 12 * MIB
/** Taken from the disk at first, and given back by `makeRoom`. */
const RESERVE = 6 * MIB
/** Where only the size of single files can be limited. */
const MOST_IN_A_FILE = MIB / 4

/** A new disk. */
export async function smallDisk(): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-disk-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const mounted = ['unshare', '-rm', 'sh', '-c', mountAndRun(folder), folder]
  const mayMount = await run(mounted[0] ?? '', [...mounted.slice(1), 'true']).then(
    () => true,
    () => false,
  )
  return mayMount ? ownFileSystem(folder, mounted, remove) : limitedFiles(folder, remove)
}

/** The folder is `$0`, and what follows it is the command. */
function mountAndRun(folder: string): string {
  const mount = `mount -t tmpfs -o size=${SIZE} fieldgate '${folder}'`
  const reserve = `dd if=/dev/zero of='${folder}/reserve' bs=${RESERVE} count=1 status=none`
  return `${mount} && ${reserve} && exec "$@"`
}

/** Nobody else sees what is mounted, but through the process's own entry in /proc. */
function ownFileSystem(
  folder: string,
  wrapper: readonly string[],
  remove: () => Promise<void>,
): SmallDisk {
  const seenFrom = (pid: number) => `/proc/${pid}/root${folder}`
  return {
    kind: 'a tmpfs',
    folder,
    wrapper,
    seenFrom,
    makeRoom: (pid) => rm(join(seenFrom(pid), 'reserve')),
    remove,
  }
}

/** A container that allows no mount has `prlimit` all the same. Node ignores the signal that goes with it. */
function limitedFiles(folder: string, remove: () => Promise<void>): SmallDisk {
  return {
    kind: 'a limit on file sizes',
    folder,
    wrapper: ['prlimit', `--fsize=${MOST_IN_A_FILE}:`],
    seenFrom: () => folder,
    async makeRoom(pid) {
      await run('prlimit', ['--pid', `${pid}`, '--fsize=unlimited'])
    },
    remove,
  }
}
