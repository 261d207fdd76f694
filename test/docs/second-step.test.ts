import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { App, RecordCollection } from '../../src/index.ts'
import { blocksOf, root } from './pages.ts'

interface Example {
  readonly app: App
  readonly users: RecordCollection<{
    totpSecret?: string
    lastTotp?: number
    answerAttempts?: number
    answersLockedUntil?: Date
  }>
  totp(secret: string, step: number): string
}

const secret = '3132333435363738393031323334353637383930'
const login = { identifier: 'ann@example.com', password: 'correct horse battery' }

/** The app of the manual's example, without the requests that it makes. */
async function example() {
  const block = blocksOf('docs/account-protection.md').find(({ text }) =>
    text.startsWith('// second-step.ts\n'),
  )
  const quiet = 'logger: { debug() {}, info() {}, warn() {}, error() {} }'
  // What a password costs is not the matter here.
  const quick =
    "hasher: { hash: async (plain) => 'cheap:' + plain, verify: async (plain, stored) => stored === 'cheap:' + plain, needsRehash: () => false }"
  const [program] = block?.text.split('\nasync function post(') ?? []
  const folder = join(root, '.cache', `second-step-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'second-step.ts')
  writeFileSync(
    file,
    `${program?.replace('sqliteStore() })', `sqliteStore(), ${quiet}, ${quick} })`)}\nexport { app, totp, users }\n`,
  )
  const { app, totp, users } = (await import(/* @vite-ignore */ file)) as Example
  onTestFinished(async () => {
    await app.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const post = async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await app.handle(new Request(`http://localhost/auth${path}`, init))
    const { ticket, data } = (await response.json()) as {
      ticket?: string
      data?: { user: { _id: string } }
    }
    return { status: response.status, ticket, id: data?.user._id ?? '' }
  }
  const { id } = await post('/register', { email: login.identifier, password: login.password })
  await users.update(id, { totpSecret: secret })
  return { post, users, id, code: (step: number) => totp(secret, step) }
}

it('the second step of the manual opens one session with one code, however many answers come at once', async () => {
  // The clock stands, so that no step ends between a code and its answer.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { post, users, id, code } = await example()
  const step = () => Math.floor(Date.now() / 30_000)
  for (let round = 0; round < 2; round += 1) {
    const tickets: (string | undefined)[] = []
    for (let at = 0; at < 4; at += 1) tickets.push((await post('/login', login)).ticket)
    const right = code(step())
    const answers = await Promise.all(
      tickets.map((ticket) => post('/login', { ticket, code: right })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
    const { ticket } = await post('/login', login)
    expect((await post('/login', { ticket, code: right })).status).toBe(401)
    // The next round finds the account as this one did: its three refusals count as wrong answers.
    await users.update(id, { lastTotp: step() - 2, answerAttempts: 0, answersLockedUntil: null })
  }
  const { ticket } = await post('/login', login)
  expect((await post('/login', { ticket, code: code(step() - 2) })).status).toBe(401)
  expect((await post('/login', { ticket, code: code(step() + 2) })).status).toBe(401)
  expect((await post('/login', { ticket, code: code(step() - 1) })).status).toBe(200)
})
