/** A live list with records that are filled in: who may see others of them than before gets the list again. */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Fields, ref } from '../../../src/index.ts'
import { service } from '../service.ts'
import { Reading } from './stream.ts'

const Kind = defineModel('FilledKind', { fields: { title: z.string(), team: z.string() } })
const Task = defineModel('FilledTask', {
  fields: { title: z.string(), kind: ref('FilledKind') },
  changes: true,
})

it.each([{ expandable: ['kind'] }, { onGet: () => ({ populate: 'kind' }) }])(
  'begins anew for who may see others, and goes on for who may see the same: %o',
  async (options) => {
    const { app } = service()
    const scope = ({ headers }: Request) => ({ team: headers.get('x-team') ?? '' })
    app.mount('/kinds', createRouter({ model: Kind, scope } as never))
    app.mount('/tasks', createRouter({ model: Task, live: true, ...options } as never))
    const kind = await app.store.collection(Kind).insert({ title: 'of a', team: 'a' })
    const tasks = app.store.collection(Task)
    const first = await tasks.insert({ title: 'first', kind: kind._id })
    const follow = async (team: string, last = '') => {
      const headers = { accept: 'text/event-stream', 'x-team': team, 'last-event-id': last }
      const path = 'onGet' in options ? '/tasks' : '/tasks?expand=kind'
      return new Reading(await app.handle(new Request(`http://localhost${path}`, { headers })))
    }
    const live = await follow('a')
    const begin = await live.next()
    expect(begin).toMatchObject({ data: { data: [{ kind: { title: 'of a' } }] } })
    await live.cancel()
    await tasks.insert({ title: 'second', kind: kind._id })
    const other = await follow('b', begin?.id)
    const list: Fields = { _id: first._id, title: 'first', kind: null }
    expect(await other.next()).toMatchObject({
      event: 'records',
      data: { data: [list, { kind: null }] },
    })
    await other.cancel()
    const same = await follow('a', begin?.id)
    expect(await same.next()).toMatchObject({ event: 'set', data: { data: { title: 'second' } } })
    await same.cancel()
  },
)
