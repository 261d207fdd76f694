import { DatabaseSync } from 'node:sqlite'
import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { executorStore } from '../../adapters/stores/sqlite/calls/executor.ts'
import { consume, runDue } from '../../src/background/changes/index.ts'
import { type App, defineModel } from '../../src/index.ts'
import { apps } from './apps.ts'

const Task = defineModel('Task', { fields: { title: z.string() }, changes: true })

async function write(app: App, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await app.store.collection(Task).insert({ title: `t${at}` })
  }
}

it('a step that the platform has ended keeps no slot from the next one', async () => {
  const it = apps('2026-11-26T12:00:00Z')
  const app = it.app()
  let isCut = true
  const seen: unknown[] = []
  consume(app, 'mailer', {
    models: [Task],
    handle: ({ after }) => (isCut ? new Promise(() => {}) : seen.push(after?.title)),
  })
  await app.ready()
  await write(app, 2)
  void runDue(app)
  await new Promise((resolve) => setTimeout(resolve, 100))
  isCut = false
  it.clock.at += 60_000
  await runDue(app)
  expect(seen).toEqual(['t0', 't1'])
})

it('steps with a limit on queries come to an end, each change in two of them at most', async () => {
  let elapsed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => elapsed)
  let left = Number.POSITIVE_INFINITY
  const limited = () => {
    left -= 1
    if (left >= 0) return
    elapsed += 30_000
    throw new Error('D1_ERROR: Too many API requests by single Worker invocation.')
  }
  const it = apps('2026-11-26T12:00:00Z', () => limitedStore(limited))
  const app = it.app()
  const seen: unknown[] = []
  consume(app, 'mailer', {
    models: [Task],
    async handle({ after }) {
      await app.store.collection(Task).count()
      seen.push(after?.title)
    },
  })
  await app.ready()
  await write(app, 80)
  for (let step = 0; step < 4; step += 1) {
    left = 50
    await runDue(app).catch(() => {})
    it.clock.at += 60_000
  }
  left = Number.POSITIVE_INFINITY
  expect(new Set(seen).size).toBe(80)
  expect(seen.length).toBeLessThan(160)
  vi.restoreAllMocks()
})

/** A database whose every statement is a query that `limited` may refuse. */
function limitedStore(limited: () => void) {
  const database = new DatabaseSync(':memory:')
  const one = ({ sql, values }: { sql: string; values: readonly (string | number)[] }) => {
    limited()
    const rows = database.prepare(sql).all(...values) as Record<string, unknown>[]
    const [counted] = database.prepare('SELECT changes() AS changes').all()
    return { rows, changes: Number(counted?.changes) }
  }
  return executorStore({
    name: 'limited',
    title: 'A limited database',
    run: async (statement) => one(statement),
    async batch(statements) {
      database.exec('BEGIN')
      try {
        const results = statements.map(one)
        database.exec('COMMIT')
        return results
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
    close: () => database.close(),
  })
}
