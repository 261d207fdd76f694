import { expect, it } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { createRouter, defineModel, type Fields, ref } from '../../src/index.ts'
import { service } from './service.ts'

const Team = defineModel('Team', { fields: { lead: ref('User') } })
const Note = defineModel('Note', {
  fields: { text: z.string(), owner: ref('User'), team: ref('Team') },
})

/** Notes of Ann, whose owner is filled in: by clients, by the app, and by the app as it names the fields. */
async function notes() {
  const app = await service({
    auth: { visibleFields: ['name'] },
    app: { cache: memoryCache() },
  })
  const middlewares = [app.auth.optionalAuth]
  const options = { model: Note, middlewares, allowedFields: [], cache: true }
  const own = (populate: unknown) => () => ({ populate }) as Fields
  app.app
    .mount(
      '/notes',
      createRouter({ ...options, expandable: ['owner', 'team.lead'], exportLimit: 10 }),
    )
    .mount('/filled', createRouter({ ...options, onGet: own('owner') }))
    .mount(
      '/less',
      createRouter({ ...options, onGet: own({ path: 'owner', select: '-createdAt' }) }),
    )
    .mount('/named', createRouter({ ...options, onGet: own({ path: 'owner', select: 'email' }) }))
  const ann = await app.register('ann@example.com', { name: 'Ann' })
  const owner = ann.user._id
  const team = String((await app.app.store.collection(Team).insert({ lead: owner }))._id)
  const note = await app.app.store.collection(Note).insert({ text: 'x', owner, team })
  return { ...app, ann, id: String(note._id) }
}

const namesOf = (record: Fields) => Object.keys(record).sort()
const others = ['_id', 'name']

it('what references show of users is their visibleFields, but for admins', async () => {
  const app = await notes()
  const bob = await app.register('bob@example.com')
  const { token: admin } = await app.admin()
  // The admin first: what is cached for them is not for others.
  for (const [token, seen] of [
    [admin, expect.arrayContaining(['email', 'name', 'role'])],
    [bob.token, others],
    [app.ann.token, others],
    [undefined, others],
  ] as const) {
    const get = async (path: string) => (await app.call('GET', path, undefined, token)).body.data
    for (const path of ['/notes?expand=owner', '/filled', '/less']) {
      expect([path, namesOf((await get(path))[0].owner)]).toEqual([path, seen])
    }
    expect(namesOf((await get(`/notes/${app.id}?expand=owner`)).owner)).toEqual(seen)
    expect(namesOf((await get('/notes?expand=team.lead'))[0].team.lead)).toEqual(seen)
    expect(namesOf((await get('/named'))[0].owner)).toEqual(['_id', 'email'])
    const query = await app.call('QUERY', '/notes', { expand: ['owner'] }, token)
    expect(namesOf(query.body.data[0].owner)).toEqual(seen)
  }
})

it('what references do not show of users cannot be selected or exported', async () => {
  const app = await notes()
  const { token } = await app.register('bob@example.com')
  const path = '/notes?expand=owner&select=owner.email'
  const refused = await app.call('GET', path, undefined, token)
  expect([refused.status, refused.body.error]).toEqual([
    400,
    "Field 'owner.email' cannot be selected.",
  ])
  const file = await app.app.handle(
    new Request('http://localhost/notes?expand=owner', { headers: { accept: 'text/csv' } }),
  )
  const [head] = (await file.text()).split('\r\n')
  expect(head?.split(',').filter((name) => name.startsWith('owner'))).toEqual([
    'owner._id',
    'owner.name',
  ])
})

it("the app's own code fills in whole users", async () => {
  const app = await notes()
  const [note] = await app.app.store.collection(Note).find({}, { expand: ['owner'] })
  expect(note?.owner).toMatchObject({ name: 'Ann', email: 'ann@example.com' })
})
