import { expect, it, onTestFinished } from 'vitest'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { project } from './project.ts'

const APP = `
import * as z from 'zod'
import { createApp, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

const Form = defineModel('Form', {
  fields: { answers: z.record(z.string(), z.number()), title: z.string(), at: z.object({ row: z.number() }).optional() },
})
export const app = createApp({ store: sqliteStore({ path: 'forms.db' }) })
app.store.collection(Form)
export { Form }
`

const FILL = `
import { app, Form } from './app.ts'
await app.ready()
await app.store.collection(Form).insert({ title: 'a', answers: { b: 1, a: 2 } })
await app.close()
`

await withService('postgres', ({ url }) => {
  it('fieldgate copy to PostgreSQL names the fields whose objects lose the order of their members', async () => {
    const shop = await project({ 'app.ts': APP, 'fill.ts': FILL })
    onTestFinished(() => shop.remove())
    expect(await shop.node('fill.ts')).toMatchObject({ code: 0 })
    const to = `${url}${url.includes('?') ? '&' : '?'}schema=${freshSchemas(url)()}`
    const { code, out, err } = await shop.fieldgate('copy', './app.ts', '--to', to)
    expect([code, out]).toEqual([0, expect.stringContaining('forms: 1 record, 1 copied now')])
    expect(err).toContain(
      'forms: PostgreSQL keeps the members of objects in answers in an order of its own\n',
    )
  })
})

it('fieldgate-copy takes no argument that it does not know', async () => {
  const shop = await project({ 'models.ts': 'export {}' })
  onTestFinished(() => shop.remove())
  const known = ['--from', 'sqlite:a.db', '--to', 'sqlite:b.db', '--models', './models.ts']
  for (const other of ['extra', '--extra', '-x']) {
    expect((await shop.fieldgateCopy(...known, other)).code).toBe(2)
  }
})
