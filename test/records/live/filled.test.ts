/**
 * A live list with records that are filled in: who may see others of them than before gets the list again. And one whose
 * records `output` makes into others.
 */

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

it('tells nothing of a write that changes nothing of what `output` shows', async () => {
  const { app } = service()
  const Note = defineModel('OutputNote', {
    fields: { title: z.string(), secret: z.string() },
    changes: true,
    output: ({ secret, ...shown }) => ({ ...shown, isLong: secret.length > 3 }),
  })
  app.mount('/notes', createRouter({ model: Note, live: true, middlewares: [] } as never))
  const notes = app.store.collection(Note)
  const { _id } = await notes.insert({ title: 'one', secret: 'a' })
  const headers = { accept: 'text/event-stream' }
  const response = await app.handle(new Request('http://localhost/notes', { headers }))
  const live = new Reading(response)
  await live.next()
  for (const secret of ['b', 'c']) await notes.update(_id, { secret })
  await notes.update(_id, { secret: 'longer' })
  const seen = { _id, title: 'one', isLong: true }
  expect(await live.next()).toMatchObject({ event: 'set', data: { data: seen } })
  await notes.update(_id, { title: 'two', secret: 'longest' })
  expect(await live.next()).toMatchObject({ data: { data: { ...seen, title: 'two' } } })
  await live.cancel()
})

it('is refused while the app closes, which the log does not call an error', async () => {
  const { app, log } = service()
  app.mount('/tasks', createRouter({ model: Task, live: true, middlewares: [] } as never))
  const follow = () => {
    const headers = { accept: 'text/event-stream' }
    return app.handle(new Request('http://localhost/tasks', { headers }))
  }
  await (await follow()).body?.cancel()
  const closing = app.close()
  const late = await follow()
  await closing
  expect([late.status, (await late.json()).error]).toEqual([
    503,
    'The live list was closed. Open it again.',
  ])
  expect(log.lines.filter(({ level }) => level === 'error')).toEqual([])
})
