import { expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../src/index.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { apps } from '../background/apps.ts'
import { answerOf, request } from '../records/service.ts'

it('the history of a record goes by what was stored, as reads do: without a default that came later', async () => {
  const all = apps('2026-11-29T12:00:00Z')
  const title = z.string()
  const Old = defineModel('HistoryPaper', { fields: { title }, changes: true })
  const old = all.app()
  const made = [{ title: 'kept' }, { title: 'removed' }]
  const [kept, removed] = await Promise.all(
    made.map(async (one) => (await old.store.collection(Old).insert(one))._id),
  )
  await old.close()
  const status = z.string().default('public')
  const Paper = defineModel('HistoryPaper', { fields: { title, status }, changes: true })
  const app = all.app()
  app.mount(
    '/papers',
    createRouter({
      ...{ model: Paper, middlewares: [], allowedFields: ['title'], history: true },
      ...{ scope: () => ({ status: 'public' }), access: { restore: true } },
    }),
  )
  const papers = app.store.collection(Paper)
  const send = async (method: string, path: string, json?: object) =>
    answerOf(await app.handle(request(method, `/papers/${path}`, { json })))
  await papers.delete(String(removed))
  await papers.update(String(kept), { status: 'draft' })
  await papers.update(String(kept), { status: 'public' })
  const log = await hostOf(app.store).changes?.history(Paper.name, String(kept), { limit: 9 })
  expect((await send('GET', `${removed}/history`)).status).toBe(404)
  const { records } = await send('GET', `${kept}/history`)
  expect(records.map(({ changes }) => changes)).toEqual([
    { title: { from: null, to: 'kept' }, status: { from: null, to: 'public' } },
  ])
  expect((await send('POST', `${kept}/restore`, { changeId: log?.at(-1)?.id })).status).toBe(404)
  expect((await send('GET', String(kept))).status).toBe(200)
})
