import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../../records/service.ts'

it('a table that someone has renamed keeps nothing of its earlier name', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-renamed-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'app.db')
  const open = (collection: string, more: object) => {
    const fields = { title: z.string(), tag: z.string().optional() }
    const Bike = defineModel('Bike', { collection, fields, changes: true, ...more })
    const made = service({ store: sqliteStore({ path }) })
    const options = { middlewares: [], history: true, search: ['title'] } as const
    made.app.mount('/bikes', createRouter({ model: Bike, ...options }))
    return made
  }
  const before = open('bikes', { unique: ['title'], indexes: ['tag'] })
  const { body } = await before.send('POST', '/bikes', { json: { title: 'one' } })
  const { _id } = body.data as { _id: string }
  await before.app.close()
  const db = new DatabaseSync(path)
  db.exec('ALTER TABLE bikes RENAME TO cycles')
  const { app, send } = open('cycles', {})
  await send('PATCH', `/bikes/${_id}`, { json: { tag: 'new' } })
  const entries = (await send('GET', `/bikes/${_id}/history`)).body.data
  expect(entries).toMatchObject([{ kind: 'updated' }, { kind: 'created' }])
  expect((await send('POST', '/bikes', { json: { title: 'one' } })).status).toBe(201)
  expect((await send('GET', '/bikes?s=one')).body.data).toHaveLength(2)
  const left = db.prepare("SELECT name FROM sqlite_master WHERE tbl_name = 'cycles'").all()
  expect(left.filter(({ name }) => String(name).startsWith('bikes '))).toEqual([])
  db.close()
  await app.close()
})
