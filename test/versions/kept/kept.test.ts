import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runDue } from '../../../src/background/jobs/index.ts'
import { codeAt } from '../../../src/methods/totp/codes.ts'
import { bearer, email, keptApp, other, password, THEN } from './app.ts'
import kept from './kept.json' with { type: 'json' }

/** A minute after the version before has ended. */
const NOW = THEN + 60_000
const own = bearer(kept.token)

let folder: string
let path: string
let served: ReturnType<typeof keptApp>

/** What the file declares: tables, indexes and triggers. */
function declared(): readonly unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all()
  } finally {
    database.close()
  }
}

// Each test finds what the ones before have left, as a deploy does.
describe('what an earlier version has left', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fieldgate-kept-'))
    path = join(folder, 'kept.db')
    await writeFile(path, gunzipSync(await readFile(new URL('kept.db.gz', import.meta.url))))
    served = keptApp(path, NOW)
  })
  afterAll(async () => {
    await served.app.close()
    await rm(folder, { recursive: true })
  })

  it('a database is opened as it is, but for indexes that came later', async () => {
    const before = declared()
    await served.app.ready()
    const index = (table: string) => {
      const name = `${table} index ["role"]`
      const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
      const columns = `json_extract(doc, '$."role"'), _id`
      return { name, sql: `CREATE INDEX ${quoted(name)} ON ${quoted(table)} (${columns})` }
    }
    const later = ['fieldgate_decoys_users', 'users'].map(index)
    const isLater = ({ name }: { name?: string }) => later.some((one) => one.name === name)
    const after = declared() as readonly { name?: string }[]
    expect(after.filter(isLater)).toEqual(later)
    expect(after.filter((one) => !isLater(one))).toEqual(before)
  })

  it('tokens and keys go on', async () => {
    const { send } = served
    expect((await send('GET', '/auth/me', undefined, own)).body.data.email).toBe(email)
    expect((await send('GET', '/countries', undefined, bearer(kept.key))).body.data).toHaveLength(
      14,
    )
    expect((await send('GET', '/auth/keys', undefined, own)).body.data[0].name).toBe('reader')
    expect((await send('GET', '/auth/sessions', undefined, own)).body.data).toHaveLength(1)
    const { refreshToken } = kept
    expect((await send('POST', '/auth/token/refresh', { refreshToken })).status).toBe(200)
  })

  it('tags of entities hold', async () => {
    const { send } = served
    const unless = { ...own, 'If-None-Match': kept.etag }
    expect((await send('GET', `/countries/${kept.id}`, undefined, unless)).status).toBe(304)
    const list = { ...own, 'If-None-Match': kept.listEtag }
    expect((await send('GET', '/countries?pageSize=4', undefined, list)).status).toBe(304)
    const only = { ...own, 'If-Match': kept.etag }
    const change = await send('PATCH', `/countries/${kept.id}`, { active: false }, only)
    expect(change.status).toBe(200)
  })

  it('a page by cursor goes on where it was', async () => {
    const { send } = served
    const { body } = await send(
      'GET',
      `/countries?pageSize=20&cursor=${kept.cursor}`,
      undefined,
      own,
    )
    const ids = [...kept.page, ...body.data].map(({ _id }: { _id: string }) => _id)
    expect(new Set(ids).size).toBe(14)
    expect(body.pagination.hasMore).toBe(false)
  })

  it('a repeated request gets its first response', async () => {
    const repeat = { ...own, 'Idempotency-Key': 'once' }
    const { status, body } = await served.send(
      'POST',
      '/countries',
      { name: 'Atlantis', area: 3 },
      repeat,
    )
    expect({ status, data: body.data }).toEqual({ status: 201, data: kept.once })
  })

  it('histories, restores and searches have what was written', async () => {
    const { send } = served
    const { body } = await send('GET', `/countries/${kept.id}/history`, undefined, own)
    expect(body.data.map(({ kind }: { kind: string }) => kind)).toEqual([
      'updated',
      'updated',
      'created',
    ])
    const found = await send('GET', '/countries?s=topi', undefined, own)
    expect(found.body.data.map(({ _id }: { _id: string }) => _id)).toEqual([kept.id])
    const restore = { changeId: kept.restore }
    const restored = await send('POST', `/countries/${kept.id}/restore`, restore, own)
    expect(restored.body.data).toMatchObject({ area: 7.5, tags: [] })
  })

  it('a list that is live goes on after its position', async () => {
    const headers = { ...own, Accept: 'text/event-stream', 'Last-Event-ID': kept.position }
    const request = new Request('http://localhost/countries', { headers })
    const response = await served.app.handle(request)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (!text.includes('event: set')) {
      const { value, done } = await reader.read()
      expect(done, text).toBe(false)
      text += decoder.decode(value, { stream: true })
    }
    expect(text).not.toContain('event: records')
    expect(text).toContain(kept.id)
    await reader.cancel()
  })

  it('consumers go on after what they had, and jobs run when they are due', async () => {
    await runDue(served.app)
    expect(served.seen[0]).toBe('updated Atlantis')
    expect(served.ran).toEqual([])
  })

  it('half a sign-in is ended, and codes that were mailed are used', async () => {
    const { send } = served
    const { ticket, secret, recoveryCode } = kept.second
    const totp = await codeAt(secret, Math.floor(NOW / 30_000))
    expect((await send('POST', '/auth/login', { ticket, totp })).status).toBe(200)
    const again = await send('POST', '/auth/login', { email: other, password })
    const recovered = { ticket: again.body.ticket, recoveryCode }
    expect((await send('POST', '/auth/login', recovered)).status).toBe(200)
    const reset = { identifier: other, code: kept.resetCode, newPassword: 'another horse battery' }
    expect((await send('POST', '/auth/password/reset', reset)).status).toBe(200)
    const byCode = { identifier: email, otp: kept.signInCode }
    expect((await send('POST', '/auth/login', byCode)).status).toBe(200)
    // What is proven now ends what came before.
    expect((await send('GET', '/auth/me', undefined, own)).status).toBe(401)
  })
})
