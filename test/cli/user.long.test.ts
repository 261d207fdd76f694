import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Project, project } from './project.ts'

const APP = `
import { appendFileSync } from 'node:fs'
import * as z from 'zod'
import { createApp, createAuthRouter, createRouter, defineModel, userFields } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

const User = defineModel('User', {
  fields: { ...userFields(), name: z.string().optional() },
  unique: ['email'],
})
const auth = createAuthRouter({
  model: User,
  token: { secret: 'a-secret-for-tests-0123456789-abcdefgh' },
  roles: { list: ['member', 'librarian', 'admin'] },
  mail: {
    sender: (mail) => {
      if (mail.to.startsWith('bad')) throw new Error('mailbox full')
      appendFileSync('mails.txt', JSON.stringify(mail) + '\\n')
    },
  },
  password: { common: false },
  onSecurityEvent: ({ type }) => {
    if (type === 'code-sent') throw new Error('the alarm is broken')
  },
})
export const app = createApp({ store: sqliteStore({ path: 'club.db' }) })
  .mount('/auth', auth.router)
  .get('/desk', auth.requireAuth, auth.requireRole('librarian'), () => 'the desk')
`

const OPEN = `
import { app } from './app.ts'
const post = async (path, body) => {
  const request = new Request('http://localhost' + path, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  })
  return (await app.handle(request)).json()
}
`

describe('fieldgate user', () => {
  let folder: Project
  beforeAll(async () => {
    folder = await project({
      'app.ts': APP,
      'names.ts': APP.replace(
        '...userFields()',
        "...userFields({ identifiers: ['email', 'username'] })",
      )
        .replace("unique: ['email']", "unique: ['email', 'username']")
        .replace('model: User,', "model: User,\n  identifiers: ['email', 'username'],"),
      'register.ts': `${OPEN}
const { data } = await post('/auth/register', { email: 'ann@example.com', password: 'a long pass phrase' })
console.log(data.token)`,
      'desk.ts': `${OPEN}
const request = new Request('http://localhost/desk', { headers: { authorization: 'Bearer ' + process.argv[2] } })
console.log((await app.handle(request)).status)`,
      'reset.ts': `${OPEN}
const [, , code] = process.argv
const newPassword = 'another long phrase'
await post('/auth/password/reset', { identifier: 'lib@example.com', code, newPassword })
const { data } = await post('/auth/login', { identifier: 'lib@example.com', password: newPassword })
console.log(data.user.role)`,
    })
  })
  afterAll(() => folder.remove())
  const roles = () => {
    const db = new DatabaseSync(join(folder.folder, 'club.db'), { readOnly: true })
    const [table] = db
      .prepare("select name from sqlite_master where type = 'table' and lower(name) = 'users'")
      .all() as { name: string }[]
    return db
      .prepare(`select * from "${table?.name}"`)
      .all()
      .map((row) => JSON.stringify(row))
  }

  it('gives a role, which an open session has at once', async () => {
    const token = (await folder.node('register.ts')).out.trim().split('\n').at(-1) ?? ''
    expect((await folder.node('desk.ts', token)).out.trim().slice(-3)).toBe('403')
    const { code, out } = await folder.fieldgate(
      ...['user', './app.ts', '--find', 'Ann@Example.com', '--role', 'librarian'],
    )
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^Ann@Example.com {2}role librarian {2}id \w+\n$/),
    ])
    expect((await folder.node('desk.ts', token)).out.trim().slice(-3)).toBe('200')
  })

  it.each([
    [
      ['ann@example.com', '--role', 'libarian'],
      "There is no role 'libarian'. Did you mean 'librarian'? There are: member, librarian, admin.",
    ],
    [
      ['bo@example.com', '--role', 'member'],
      "No account has the identifier 'bo@example.com'. Accounts are found by: email. To make one, add --create.",
    ],
    [
      ['cy@example.com', '--role', 'boss', '--create'],
      "There is no role 'boss'. There are: member, librarian, admin.",
    ],
    [['nobody', '--create'], "'nobody' is no email address or phone number of accounts here."],
    [
      ['di@example.com', '--create', '--values', '{"name":5}'],
      'Check the submitted values. name: ',
    ],
  ])('changes nothing and ends with 1: %s', async (args, message) => {
    const before = roles()
    const { code, err } = await folder.fieldgate('user', './app.ts', '--find', ...args)
    expect(code).toBe(1)
    expect(err).toContain(message)
    expect(roles()).toEqual(before)
  })

  it.each([
    ['{"username":"ann@example.com"}', 1, 'username: Must not read as an email address.'],
    ['{"password":"a plain password"}', 2, "--values can't have 'password'"],
    [
      '{"role":"admin"}',
      2,
      "--values can't have 'role', which accounts write themselves: use --role",
    ],
    ['{"provenEmail":"ed@example.com"}', 2, "--values can't have 'provenEmail'"],
  ])('stores no value that a sign-up would not: %s', async (values, code, message) => {
    const before = roles()
    const asked = ['--find', 'ed@example.com', '--create', '--values', values]
    const done = await folder.fieldgate('user', './names.ts', ...asked)
    expect([done.code, done.err]).toEqual([code, expect.stringContaining(message)])
    expect(roles()).toEqual(before)
  })

  it('makes an account whose password is set by a mailed code', async () => {
    const { code, out, err } = await folder.fieldgate(
      ...['user', './app.ts', '--find', 'lib@example.com', '--role', 'librarian', '--create'],
      ...['--values', '{"name":"Lib"}', '--json'],
    )
    expect([code, JSON.parse(out)]).toEqual([
      0,
      { id: expect.any(String), role: 'librarian', created: true },
    ])
    expect(err).toContain('A code that sets the password was sent to lib@example.com.')
    expect(err).toContain('onSecurityEvent failed')
    const mails = readFileSync(join(folder.folder, 'mails.txt'), 'utf8').trim().split('\n')
    const mail = JSON.parse(mails.at(-1) ?? '')
    expect(mail.to).toBe('lib@example.com')
    expect((await folder.node('reset.ts', mail.code)).out.trim().split('\n').at(-1)).toBe(
      'librarian',
    )
    const again = await folder.fieldgate(
      'user',
      './app.ts',
      '--find',
      'lib@example.com',
      '--create',
    )
    expect([again.code, again.out]).toEqual([0, expect.not.stringContaining('(new)')])
  })

  it('says how to get another code if that one could not be sent', async () => {
    const { code, err } = await folder.fieldgate(
      ...['user', './app.ts', '--find', 'bad@example.com', '--create'],
    )
    expect(code).toBe(0)
    expect(err).toContain(
      'The account is there, but a code could not be sent by email: mailbox full.',
    )
    expect(err).toContain('POST /auth/password/forgot sends another code.')
  })

  it('ends with 2 without --find, and for an app without accounts', async () => {
    expect((await folder.fieldgate('user', './app.ts')).code).toBe(2)
    const other = await folder.fieldgate(
      ...['user', './app.ts', '--find', 'ann@example.com', '--mount', '/staff'],
    )
    expect([other.code, other.err]).toEqual([
      2,
      'fieldgate user: there is no auth router at /staff. There are: /auth\n',
    ])
  })
})
