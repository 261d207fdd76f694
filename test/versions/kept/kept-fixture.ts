/**
 * `node -C fieldgate-source test/versions/kept/kept-fixture.ts`: writes what this version leaves in a SQLite file and with clients.
 * Run it when a form is changed on purpose, and say in the changelog what users of the version before have to expect.
 */

import { writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { runDue } from '../../../src/background/jobs/index.ts'
import { codeAt } from '../../../src/methods/totp/codes.ts'
import { type Answer, bearer, email, keptApp, other, password, THEN } from './app.ts'

const here = (name: string) => new URL(name, import.meta.url)
const folder = await mkdtemp(join(tmpdir(), 'fieldgate-kept-'))
const path = join(folder, 'kept.db')
const { app, send, mails } = keptApp(path, THEN)

/** The data of a success. */
async function made(answer: Promise<Answer>) {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body.data
}

const signUp = (address: string) =>
  made(send('POST', '/auth/register', { email: address, password }))
const { token, refreshToken } = await signUp(email)
const own = bearer(token)
const allow = [{ mount: '/countries', actions: ['list', 'read'] }]
const { key } = await made(send('POST', '/auth/keys', { name: 'reader', allow }, own))

const create = (name: string, more: object, headers = {}) =>
  send('POST', '/countries', { name, ...more }, { ...own, ...headers })
const first = await made(create('Utopia', { area: 7.5, founded: '1516-12-01T00:00:00.000Z' }))
for (let at = 0; at < 12; at++) {
  await made(
    create(`Land ${at}`, {
      area: at % 5,
      active: at % 2 === 0,
      tags: [`t${at}`],
      parent: first._id,
    }),
  )
}
await made(send('PATCH', `/countries/${first._id}`, { area: 8, tags: ['new'] }, own))
const repeated = { 'Idempotency-Key': 'once' }
const once = await made(create('Atlantis', { area: 3 }, repeated))
await runDue(app)
const changed = await send('PATCH', `/countries/${once._id}`, { area: 4 }, own)
const record = await send('GET', `/countries/${first._id}`, undefined, own)
const list = await send('GET', '/countries?pageSize=4', undefined, own)
const history = await made(send('GET', `/countries/${first._id}/history`, undefined, own))

// Another account has a second factor, and is half-way in and to a new password.
const bob = bearer((await signUp(other)).token)
const { secret, ticket } = await made(send('POST', '/auth/totp', undefined, bob))
const code = await codeAt(secret, Math.floor(THEN / 30_000) - 1)
const { recoveryCodes } = await made(send('POST', '/auth/totp/confirm', { ticket, code }, bob))
const halfWay = await send('POST', '/auth/login', { email: other, password })
mails.length = 0
await send('POST', '/auth/password/forgot', { identifier: other })
const resetCode = mails[0]?.code
mails.length = 0
await send('POST', '/auth/login/code', { identifier: email })

await app.close()
const database = new DatabaseSync(path)
database.exec('PRAGMA journal_mode = DELETE; VACUUM')
database.close()
writeFileSync(here('kept.db.gz'), gzipSync(await readFile(path), { level: 9 }))
const kept = {
  ...{ token, refreshToken, key, id: first._id, once },
  etag: record.headers.get('etag'),
  listEtag: list.headers.get('etag'),
  cursor: list.body.pagination.nextCursor,
  page: list.body.data,
  restore: history.at(-1).id,
  position: changed.headers.get('change-id'),
  second: { secret, ticket: halfWay.body.ticket, recoveryCode: recoveryCodes[0] },
  ...{ resetCode, signInCode: mails[0]?.code },
}
writeFileSync(here('kept.json'), `${JSON.stringify(kept, undefined, 2)}\n`)
await rm(folder, { recursive: true })
console.log(kept)
