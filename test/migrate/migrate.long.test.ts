import { setTimeout as delay } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withService } from '../services/shared.ts'
import { form, png } from '../uploads/png.ts'
import { steps } from './page.ts'
import { type Running, type Workplace, workplace } from './service.ts'

const code = steps()
const [BEFORE = '', REPORT = '', READS = '', ACCOUNTS = '', WRITES = '', ALONE = '', BACK = ''] =
  code.keys()
const password = 'correct horse battery'
const changed = 'another horse battery'

/** Sends a request and reads the response; a form is sent as one, all else as JSON. */
async function ask(at: Running, method: string, path: string, body?: object, token?: string) {
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body && !(body instanceof FormData) && { 'content-type': 'application/json' }),
  }
  const sent = body instanceof FormData ? body : JSON.stringify(body)
  const response = await fetch(at.url + path, { method, headers, ...(body && { body: sent }) })
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where that is not there.
  const json: any = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined
  return { status: response.status, type: response.headers.get('content-type'), json }
}

const titles = (list: { title: string }[]): string[] => list.map(({ title }) => title)

await withService('mongo', ({ url }) => {
  const database = `migrate-${crypto.randomUUID()}`
  const client = new MongoClient(url)
  let place: Workplace
  let now: Running | undefined

  beforeAll(async () => {
    const MONGO_URL = url.replace(/\/?(\?|$)/, `/${database}$1`)
    place = await workplace(code, {
      MONGO_URL,
      JWT_SECRET: 'a secret of the old service, of 32 characters or more',
      TOKEN_SECRET: 'a secret of the new service, of 32 characters or more',
      FILES_SECRET: 'a secret for links to files, of 32 characters or more',
    })
  }, 900_000)
  afterAll(async () => {
    await now?.stop()
    await client.db(database).dropDatabase()
    await client.close()
    await place.remove()
  })

  /** Ends the service and starts that of another step. */
  async function move(step: string, program?: string): Promise<Running> {
    await now?.stop()
    now = await place.start(step, program)
    return now
  }

  /** The names of the indexes that are not fieldgate's. */
  async function indexes(): Promise<string[]> {
    const all = await Promise.all(
      ['users', 'photos'].map((name) => client.db(database).collection(name).indexes()),
    )
    const names = all.flat().map(({ name = '' }) => name)
    return names.filter((name) => /^(email|owner)_1$/.test(name)).sort()
  }

  describe('docs/migrate.md', () => {
    const known = { ann: '', annId: '', photo: '', oldFile: '', bea: '', shared: '', newFile: '' }

    it('has the steps that are tested here', () => {
      expect([...code.keys()]).toEqual([
        'The service',
        '1. Say what will change',
        '2. Photos, side by side',
        '3. Accounts',
        '4. Writes and uploads',
        '5. Without the old routes',
        'Back',
      ])
    })

    it('has code of the types that it says', { timeout: 300_000 }, async () => {
      expect(await place.compile()).toBe('')
    })

    it('the old service has accounts, photos and files', async () => {
      const at = await move(BEFORE)
      const account = { email: 'Ann@example.com', name: 'Ann', password }
      const { status, json } = await ask(at, 'POST', '/register', account)
      expect(status).toBe(201)
      known.ann = json.token
      known.annId = json.user.id
      const upload = form({ title: 'Old', tags: ['sea'], image: png })
      const made = await ask(at, 'POST', '/photos', upload, known.ann)
      expect(made.status).toBe(201)
      known.photo = made.json._id
      known.oldFile = made.json.image
      expect((await ask(at, 'GET', known.oldFile)).type).toBe('image/png')
    })

    it('1: the report says one thing', async () => {
      expect(await place.run(REPORT, 'report.ts')).toMatch(/^email: trim, lowercase: .+\n?$/)
    })

    it('2: both show the same photos, and nobody writes to the new ones', async () => {
      const at = await move(READS)
      const old = await ask(at, 'GET', '/photos?tag=sea')
      const { json } = await ask(at, 'GET', '/v2/photos?tags=sea')
      const { __v, ...photo } = old.json[0]
      expect(photo.owner).toEqual({ _id: known.annId, name: 'Ann' })
      expect(json).toEqual({ success: true, data: [photo] })
      expect((await ask(at, 'POST', '/v2/photos', { title: 'x' })).status).toBe(405)
      expect(await indexes()).toEqual(['email_1', 'owner_1'])
    })

    it('3: accounts, passwords and old tokens are those of both', async () => {
      const at = await move(ACCOUNTS)
      const me = await ask(at, 'GET', '/v2/accounts/me', undefined, known.ann)
      expect(me.json.data).toMatchObject({ _id: known.annId, email: 'ann@example.com' })
      const credentials = { email: 'ann@example.com', password }
      const { json } = await ask(at, 'POST', '/v2/accounts/login', credentials)
      const change = { currentPassword: password, newPassword: changed }
      const path = '/v2/accounts/password/change'
      expect((await ask(at, 'POST', path, change, json.data.token)).status).toBe(200)
      const changedAt = Date.now()
      const account = { email: 'bea@example.com', name: 'Bea', password }
      const bea = await ask(at, 'POST', '/v2/accounts/register', account)
      expect(bea.status).toBe(201)
      known.bea = bea.json.data.token
      expect((await ask(at, 'POST', '/login', account)).json.user.name).toBe('Bea')
      // An old token says in which second it was made: one of the second of the change could be from before it.
      while (Date.now() < changedAt + 1000) await delay(50)
      const ann = await ask(at, 'POST', '/login', { ...credentials, password: changed })
      known.ann = ann.json.token
      expect((await ask(at, 'GET', '/v2/accounts/me', undefined, known.ann)).status).toBe(200)
      expect((await ask(at, 'POST', '/photos', { title: 'x' }, known.bea)).status).toBe(401)
    })

    it('3: the doctor finds one thing', async () => {
      const found = JSON.parse(await place.doctor(ACCOUNTS, 'api.ts'))
      expect(found).toMatchObject({
        ok: false,
        problems: [{ model: 'User', problem: 'index', field: 'email' }],
      })
      expect(found.problems[0].note).toContain("'email_1'")
    })

    it('4: both write, each shows what the other wrote, and files of both are served', async () => {
      const at = await move(WRITES)
      const upload = form({ title: 'New', tags: ['sea'], image: png })
      const made = await ask(at, 'POST', '/v2/photos', upload, known.ann)
      expect(made.status).toBe(201)
      expect(made.json.data.owner).toBe(known.annId)
      known.shared = made.json.data._id
      known.newFile = made.json.data.image
      expect(titles((await ask(at, 'GET', '/photos')).json)).toEqual(['New', 'Old'])
      for (const file of [known.oldFile, known.newFile])
        expect((await ask(at, 'GET', file)).type).toBe('image/png')
      const renamed = await ask(at, 'PATCH', `/photos/${known.shared}`, { title: 'Sea' }, known.ann)
      expect(renamed.json).toMatchObject({ title: 'Sea', image: known.newFile })
      const path = `/v2/photos/${known.photo}`
      expect((await ask(at, 'PATCH', path, { title: 'x' }, known.bea)).status).toBe(404)
      expect((await ask(at, 'PATCH', path, { title: 'x' })).status).toBe(401)
      const own = await ask(at, 'PATCH', path, { title: 'First' }, known.ann)
      expect(own.json.data).toMatchObject({ title: 'First', image: known.oldFile, tags: ['sea'] })
      expect((await ask(at, 'POST', '/photos', { title: 'third' }, known.ann)).status).toBe(201)
      expect(titles((await ask(at, 'GET', '/v2/photos')).json.data)).toEqual([
        'third',
        'Sea',
        'First',
      ])
    })

    it('5: the new API goes on without the old routes', async () => {
      const at = await move(ALONE)
      expect((await ask(at, 'GET', '/photos')).status).toBe(404)
      expect((await ask(at, 'GET', '/v2/photos')).json.data).toHaveLength(3)
      expect((await ask(at, 'GET', known.oldFile)).type).toBe('image/png')
      expect((await ask(at, 'GET', '/v2/accounts/me', undefined, known.bea)).status).toBe(200)
    })

    it('and back: the old service has everything that the new one wrote', async () => {
      const at = await move(BACK, 'back.ts')
      const list = await ask(at, 'GET', '/photos')
      expect(titles(list.json)).toEqual(['third', 'Sea', 'First'])
      expect(list.json[0].owner.name).toBe('Ann')
      for (const file of [known.oldFile, known.newFile])
        expect((await ask(at, 'GET', file)).type).toBe('image/png')
      const ann = { email: 'ann@example.com', password: changed }
      const { json } = await ask(at, 'POST', '/login', ann)
      const removed = await ask(at, 'DELETE', `/photos/${known.shared}`, undefined, json.token)
      expect(removed.status).toBe(204)
      const bea = { email: 'bea@example.com', password }
      expect((await ask(at, 'POST', '/login', bea)).status).toBe(200)
      expect(await indexes()).toEqual(['email_1', 'owner_1'])
    })

    it('and forward again: sessions are still there, and nothing is lost', async () => {
      const at = await move(WRITES)
      const { json } = await ask(at, 'GET', '/v2/accounts/me', undefined, known.bea)
      expect(json.data).toMatchObject({ email: 'bea@example.com', name: 'Bea' })
      expect(titles((await ask(at, 'GET', '/v2/photos')).json.data)).toEqual(['third', 'First'])
      const ann = { email: 'ann@example.com', password: changed }
      expect((await ask(at, 'POST', '/v2/accounts/login', ann)).status).toBe(200)
    })
  })
})
