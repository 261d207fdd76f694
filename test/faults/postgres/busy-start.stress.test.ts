import { setTimeout as delay } from 'node:timers/promises'
import connectTo from 'postgres'
import { describe, expect, it, type TestContext, vi } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { defineModel, type Model } from '../../../src/index.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'

function thing(fields: object, unique: string[] = []): CollectionSchema {
  const model = defineModel('Thing', { fields, unique } as never) as unknown as Model
  return { ...model, name: model.collection, searchable: [] }
}

const fields = { name: z.string() }
const old = thing(fields)

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  /** A store whose table a reader holds, and the store of a version that is starting. */
  async function held({ onTestFinished }: TestContext) {
    const schema = fresh()
    const [serving, starting] = [postgresStore({ url, schema }), postgresStore({ url, schema })]
    const reader = connectTo(url, { max: 1, connection: { application_name: 'report' } })
    await serving.prepare([old])
    await serving.collection(old).insert({ _id: 'a', name: 'a' })
    await reader.unsafe(`BEGIN; SELECT * FROM "${schema}".things`)
    onTestFinished(async () => {
      await reader.end()
      await serving.close()
      await starting.close()
    })
    return { serving: serving.collection(old), starting, reader }
  }

  describe.concurrent('a start that has to change a table in use', { timeout: 120_000 }, () => {
    it.for<[string, CollectionSchema]>([
      ['a new field', thing({ ...fields, note: z.string().optional() })],
      ['a new unique set', thing(fields, ['name'])],
    ])('holds up no request for long: %s', async ([, next], context) => {
      const { serving, starting, reader } = await held(context)
      let isOver = false
      const start = starting.prepare([next]).then(() => {
        isOver = true
      })
      let slowest = 0
      const until = performance.now() + runs(2000)
      while (performance.now() < until) {
        const startedAt = performance.now()
        await serving.count({ op: 'eq', field: 'name', value: 'a' })
        slowest = Math.max(slowest, performance.now() - startedAt)
      }
      expect(isOver).toBe(false)
      expect(slowest).toBeLessThan(10_000)
      await reader.unsafe('COMMIT')
      await start
    })
  })

  it('ends with an error that names who holds the table', async (context) => {
    const { starting } = await held(context)
    let isOver = false
    const start = starting.prepare([thing({ ...fields, note: z.string().optional() })])
    const ended = start
      .catch((reason: unknown) => reason)
      .finally(() => {
        isOver = true
      })
    // An attempt and the pause after it take a second and a half. The clock goes ahead for the other eighteen.
    await delay(1500)
    expect(isOver).toBe(false)
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 20_000)
    context.onTestFinished(() => {
      vi.restoreAllMocks()
    })
    const error = await ended
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect((error as Error).message).toMatch(
      /"things" could not be changed, because it has been locked for 20 s by process \d+ \(report, idle in transaction since /,
    )
  }, 60_000)
})
