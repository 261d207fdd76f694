import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { libsqlStore } from '../../../adapters/stores/sqlite/libsql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { where } from '../../../extras/contract/store/ask.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { everything } from '../../../src/ports/filter.ts'
import { programOf } from '../../services/program.ts'
import { integrityOf, newFile } from './file.ts'

const run = promisify(execFile)
const child = programOf(new URL('./sqlite-child.ts', import.meta.url))

const DRIVERS = {
  SQLite: { open: (path: string) => sqliteStore({ path }), args: [] },
  libSQL: { open: (path: string) => libsqlStore({ url: `file:${path}` }), args: ['libsql'] },
}

describe.each(Object.entries(DRIVERS))('%s and processes', (_, { open, args }) => {
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
      const writer = spawn(process.execPath, [child, 'write', path, `r${round}`, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let seen = 0
      for await (const id of createInterface({ input: writer.stdout })) {
        answered.push(id)
        seen += 1
        if (seen === writes) writer.kill('SIGKILL')
      }
      if (writer.signalCode === null) await once(writer, 'exit')
      expect(writer.signalCode).toBe('SIGKILL')
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

describe('The driver of SQLite', () => {
  it('says nothing of node:sqlite being experimental, and leaves other warnings alone', async () => {
    const { stderr } = await run(process.execPath, [child, 'warn'])
    expect(stderr).toContain('a warning of the application')
    expect(stderr).not.toContain('SQLite')
  })
})
