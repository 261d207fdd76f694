/** How a command ends, and the error of one that cannot run. */

import { existsSync, fstatSync, writeFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'

export class Unusable extends Error {
  override readonly name = 'Unusable'
}

/** Takes what is closed in the end, and returns it. */
export type Keep = <C extends { close(): Promise<void> }>(one: C) => C

/** Does `work`, and closes what it has kept, the last first. */
export async function closing<T>(work: (keep: Keep) => Promise<T>): Promise<T> {
  const kept: { close(): Promise<void> }[] = []
  const keep: Keep = (one) => {
    kept.push(one)
    return one
  }
  try {
    return await work(keep)
  } finally {
    for (const one of kept.reverse()) await one.close()
  }
}

export function checkThere(module: string): void {
  if (existsSync(module)) return
  const place = isAbsolute(module) ? '' : ` in ${process.cwd()}`
  throw new Unusable(`there is no file '${module}'${place}`)
}

/**
 * Ends the process with the code that `running` resolves to, when everything is printed. What the user's module has left
 * running would keep it alive: a server, a timer, a connection. If the disk is full or the pipe closed, the code is 2.
 */
export async function end(running: Promise<number>): Promise<never> {
  process.stdout.on('error', ({ message }: Error) => {
    process.stderr.write(`the output can't be written: ${message}\n`)
    process.exit(2)
  })
  // Node takes the part of it that a nearly full disk has taken for all of it.
  if (isFile(1)) {
    process.stdout._write = (text, _, done) => {
      try {
        writeFileSync(1, text)
        done()
      } catch (error) {
        done(error as Error)
      }
    }
  }
  const code = await running
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise((resolve) => stream.write('', resolve))
  }
  process.exit(code)
}

function isFile(output: number): boolean {
  try {
    return fstatSync(output).isFile()
  } catch {
    // On Windows, what runs without a window may have none.
    return false
  }
}
