import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { books, booksOf, stored } from './backfilled.ts'
import type { Project } from './project.ts'

/** Has a process kill itself as soon as it tells something: a busy test would be late, and it would have gone on. */
const DYING = `data:text/javascript,${encodeURIComponent(`import { writeSync } from 'node:fs'
process.stderr.write = (text) => {
  writeSync(2, text)
  process.kill(process.pid, 'SIGKILL')
}`)}`

/** Runs a backfill that is killed as soon as it tells how far it is. Resolves to what it told. */
async function killed({ folder, command: [node, ...args] }: Project): Promise<string> {
  const run = spawn(node, ['--import', DYING, ...args, 'backfill', './app.ts'], { cwd: folder })
  const ended = new Promise((resolve) => run.on('close', resolve))
  for await (const line of createInterface({ input: run.stderr })) {
    await ended
    return line
  }
  throw new Error('the backfill told nothing')
}

const many = booksOf(30_000)

it('a backfill goes on where it was killed, and leaves nothing out', async () => {
  const made = await books(many)
  expect(await killed(made)).toContain('10,000 of 30,000')
  expect(await killed(made)).toContain('20,000 of 30,000')
  const { code, out, err } = await made.fieldgate('backfill', './app.ts')
  expect([code, err]).toEqual([0, expect.not.stringContaining(' 10,000 of')])
  expect(out).toContain('of 30,000 records changed')
  const wanted = many.map(({ name, pages }) => ({ title: name, pages: +pages, language: 'en' }))
  const found = await stored(made)
  expect(found.toSorted((a, b) => Number(a.pages) - Number(b.pages))).toEqual(wanted)
})
