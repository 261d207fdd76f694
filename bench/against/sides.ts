/**
 * The two sides of a comparison: a commit's server and its records.
 *
 * @module
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Asked } from '../records/asked.ts'
import type { Database } from '../records/database.ts'
import { FROM_SOURCE } from '../server.ts'
import type { Contender, StoreName } from '../servers.ts'
import type { Checkout } from './checkout.ts'
import type { Question } from './side.ts'

/** One of two commits. */
export interface Side {
  readonly server: Contender
  readonly database: Database
}

const PROGRAM = fileURLToPath(new URL('side.ts', import.meta.url))

interface Ready {
  readonly asked: Asked
  readonly cursor: string
  /** The built server. */
  readonly script: string
}

/** Builds a commit's server, which `launcher` starts, and fills `store` with `size` records, both by the commit's own code. */
export async function sideOf(
  { folder, name }: Checkout,
  store: StoreName,
  size: number,
  launcher: readonly string[],
): Promise<Side> {
  const program = join(folder, 'bench/against/side.ts')
  if (program !== PROGRAM) {
    mkdirSync(dirname(program), { recursive: true })
    copyFileSync(PROGRAM, program)
  }
  const execArgv = [FROM_SOURCE, '--disable-warning=ExperimentalWarning']
  const child = fork(program, [store, String(size)], { cwd: folder, execArgv })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${name} could not be prepared: its program ended with code ${code}`)
  })
  ended.catch(() => undefined)
  const answer = async () => (await Promise.race([once(child, 'message'), ended]))[0]
  const ask = async (question: Question): Promise<string> => {
    child.send(question)
    return await answer()
  }
  const { asked, cursor, script } = (await answer()) as Ready
  const command = async (question: string) => {
    const place = await ask(question as Question)
    return [...launcher, process.execPath, '--no-warnings', script, place]
  }
  return {
    server: { name, kind: 'own', owner: 'fieldgate', isAlone: true, command },
    database: {
      asked,
      cursor,
      owners: ['fieldgate'],
      // The commit's own program knows where: the command asks it.
      place: (_owner, writes): Question => (writes ? 'write' : 'read'),
      tidy: async () => void (await ask('tidy')),
      async close() {
        child.disconnect()
        await ended.catch(() => undefined)
      },
    },
  }
}
