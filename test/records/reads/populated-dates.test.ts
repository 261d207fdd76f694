import { expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Fields, type Model, ref } from '../../../src/index.ts'
import { service } from '../service.ts'

const BORN = new Date('2001-02-03T04:05:06.007Z')

/** A record with a date, a reference to one, and one from there on; `outputs` names the models that have an output. */
async function nested(outputs: readonly string[], lean: boolean) {
  /** How the outputs found the dates: of their own record, and of those inside of it. */
  const seen: unknown[] = []
  const kinds = (value: unknown): unknown =>
    value instanceof Date
      ? 'Date'
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, kinds(one)]))
        : typeof value
  const modelOf = (name: string, next?: string) =>
    defineModel(name, {
      fields: { born: z.date(), size: z.number().default(3), ...(next && { next: ref(next) }) },
      ...(outputs.includes(name) && {
        output: (record: Fields) => {
          seen.push({ [name]: kinds(record) })
          return { ...record, by: name }
        },
      }),
    } as never) as unknown as Model<{ born: Date; next: string }>
  const [A, B, C] = [modelOf('DatedA', 'DatedB'), modelOf('DatedB', 'DatedC'), modelOf('DatedC')]
  const served = service({ store: sqliteStore() })
  const options = { middlewares: [], allowedFields: [], lean }
  const expandable = ['next', 'next.next']
  served.app.mount('/a', createRouter({ model: A, ...options, expandable } as never))
  for (const model of [B, C])
    served.app.mount(`/${model.name}`, createRouter({ model, ...options } as never))
  const { store } = served.app
  const c = await store.collection(C).insert({ born: BORN } as never)
  const b = await store.collection(B).insert({ born: BORN, next: c._id } as never)
  const a = await store.collection(A).insert({ born: BORN, next: b._id } as never)
  return { seen, send: served.send, ids: [a, b, c].map(({ _id }) => _id) }
}

const SETS = [[], ['DatedA'], ['DatedB'], ['DatedC'], ['DatedA', 'DatedC'], ['DatedB', 'DatedC']]

for (const outputs of SETS) {
  for (const lean of [false, true]) {
    test(`outputs of ${outputs.join(' and ') || 'no model'}${lean ? ', on a lean router' : ''}: they see Dates, clients text`, async () => {
      const { seen, send, ids } = await nested(outputs, lean)
      const by = (name: string) => (outputs.includes(name) && !lean ? { by: name } : {})
      const [a, b, c] = ids
      const common = { born: BORN.toISOString(), size: 3 }
      const expected = {
        ...{ _id: a, ...common, ...by('DatedA') },
        next: {
          ...{ _id: b, ...common, ...by('DatedB') },
          next: { _id: c, ...common, ...by('DatedC') },
        },
      }
      expect((await send('GET', `/a/${a}?expand=next.next`)).body.data).toEqual(expected)
      expect((await send('GET', '/a?expand=next.next')).body.data).toEqual([expected])
      expect(seen.length > 0).toBe(outputs.length > 0 && !lean)
      expect(JSON.stringify(seen)).not.toContain('"born":"string"')
    })
  }
}
