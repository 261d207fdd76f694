/**
 * What processes that share a file of SQLite may rely on.
 *
 * @module
 */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { where } from '../../../extras/contract/store/ask.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { programOf } from '../../services/program.ts'
import { integrityOf, newFile } from './file.ts'

export const run = promisify(execFile)
export const child = programOf(new URL('./sqlite-child.ts', import.meta.url))

/** The ids that a process was told are stored, until it was killed after `writes` of them. */
async function writtenUntilKilled(args: readonly string[], writes: number): Promise<string[]> {
  const writer = spawn(process.execPath, [child, 'write', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const answered: string[] = []
  for await (const id of createInterface({ input: writer.stdout })) {
    if (answered.push(id) === writes) writer.kill('SIGKILL')
  }
  if (writer.signalCode === null) await once(writer, 'exit')
  expect(writer.signalCode).toBe('SIGKILL')
  return answered
}

/** `args` are for the other process, which opens the same store. */
export function verifyProcesses(
  name: string,
  open: (path: string) => Store,
  args: readonly string[] = [],
): void {
  describe(`${name} and processes`, () => {
    it('two processes share one file without an error, and every write of both counts', async () => {
      const path = newFile()
      const store = open(path)
      await store.prepare([people])
      await store.collection(people).insert({ _id: 'shared', name: 'shared', score: 0 })
      await Promise.all(
        ['a', 'b'].map((name) => run(process.execPath, [child, 'share', path, name, ...args])),
      )
      const collection = store.collection(people)
      expect(await collection.count(everything)).toBe(1 + 2 * 60 * 5)
      const [shared] = await collection.find({
        filter: where('_id', 'eq', 'shared'),
        sort: [],
        limit: 1,
      })
      expect(shared?.score).toBe(120)
      await store.close()
    })

    it('two processes prepare the same new file at once', async () => {
      const path = newFile()
      await Promise.all(
        ['a', 'b', 'c'].map((name) => run(process.execPath, [child, 'share', path, name, ...args])),
      )
      expect(integrityOf(path)).toBe('ok')
    })

    it('what was answered is there after kill -9', async () => {
      const path = newFile()
      const answered: string[] = []
      for (const [round, writes] of [1, 9, 50, 120, 203].entries()) {
        answered.push(...(await writtenUntilKilled([path, `r${round}`, ...args], writes)))
        expect(integrityOf(path)).toBe('ok')
      }
      const store = open(path)
      const found = await store.collection(people).find({
        filter: { op: 'in', field: '_id', values: answered },
        sort: [],
        limit: answered.length,
      })
      expect(found).toHaveLength(answered.length)
      await store.close()
    })
  })
}
