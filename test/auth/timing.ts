/**
 * Does the time of a refused sign-in tell what account there is? `node test/auth/timing.ts [--pairs 2000] [--scrypt]`;
 * with `--speed` it prints what tokens and sign-ins cost instead.
 *
 * Refusals of a known account with a wrong password alternate with those of each other class. Printed are the
 * difference of the medians and the AUC: how often the other class takes longer (0.5 tells nothing). Without
 * `--scrypt` hashing is scrypt at a sixteenth of its cost, so that less noise hides a difference.
 *
 * @module
 */

import { randomBytes, scrypt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter } from '../../src/index.ts'
import { authOptions, password, userModel } from './accounts.ts'
import { printSpeed } from './speed.ts'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '2000' },
    scrypt: { type: 'boolean' },
    speed: { type: 'boolean' },
  },
})
if (values.speed) {
  await printSpeed()
  process.exit()
}
const pairs = Number(values.pairs)

const light = (plain: string, salt: string) =>
  new Promise<string>((resolve, reject) =>
    scrypt(plain, salt, 32, { N: 1024, r: 8, p: 5 }, (error, hash) =>
      error ? reject(error) : resolve(`${salt}:${hash.toString('hex')}`),
    ),
  )
const lightHashing = {
  hash: (plain: string) => light(plain, randomBytes(16).toString('hex')),
  verify: async (plain: string, stored: string) =>
    (await light(plain, stored.slice(0, stored.indexOf(':')))) === stored,
}

const folder = await mkdtemp(join(tmpdir(), 'fieldgate-timing-'))
const options = { fields: { banned: z.boolean().optional() } }
const User = userModel(options)
const auth = createAuthRouter(
  authOptions(User, [], {
    fields: { disabled: 'banned' },
    lockout: { maxAttempts: 1_000_000, lockSeconds: 1_000_000 },
    password: values.scrypt ? {} : lightHashing,
  }),
)
const quiet = () => {}
const app = createApp({
  store: sqliteStore({ path: join(folder, 'timing.db') }),
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  env: {},
})
app.mount('/auth', auth.router)
const users = app.store.collection(User)

const post = async (path: string, body: object) => {
  const response = await app.handle(
    new Request(`http://localhost/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )
  return { status: response.status, text: await response.text() }
}
const time = async (name: string) => {
  const start = performance.now()
  await post('login', { identifier: `${name}@example.com`, password: 'a wrong password' })
  return performance.now() - start
}

for (const name of ['known', 'locked', 'disabled', 'social']) {
  const { text } = await post('register', { email: `${name}@example.com`, password })
  const { _id } = JSON.parse(text).data.user
  if (name === 'locked') await users.update(_id, { lockedUntil: new Date(Date.now() + 1e9) })
  if (name === 'disabled') await users.update(_id, { banned: true })
  if (name === 'social') await users.update(_id, { password: undefined })
}
// Other accounts, so that the known one is not the only one there is.
for (let other = 0; other < 100; other += 1)
  await users.insert({ email: `other${other}@example.com` })
for (let warm = 0; warm < 20; warm += 1)
  for (const name of ['known', 'unknown', 'locked']) await time(name)

console.log(
  `${pairs} pairs a class, ${values.scrypt ? 'scrypt' : 'light scrypt'}, SQLite in a file`,
)
for (const name of ['unknown', 'locked', 'disabled', 'social']) {
  const known: number[] = []
  const other: number[] = []
  for (let pair = 0; pair < pairs; pair += 1) {
    // Which comes first alternates, so that neither always follows the other's commit.
    if (pair % 2 === 0) known.push(await time('known'))
    other.push(await time(name))
    if (pair % 2 === 1) known.push(await time('known'))
  }
  const difference = median(other) - median(known)
  console.log(
    `${name.padEnd(9)} median ${median(other).toFixed(3)} ms, wrong password ${median(known).toFixed(3)} ms, ` +
      `difference ${difference.toFixed(3)} ms, AUC ${auc(other, known).toFixed(3)}`,
  )
}
await app.close()
await rm(folder, { recursive: true, force: true })

function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** The probability that one of `a` is above one of `b` (Mann-Whitney). */
function auc(a: readonly number[], b: readonly number[]): number {
  const ranked = [
    ...a.map((value) => ({ value, mine: true })),
    ...b.map((value) => ({ value, mine: false })),
  ].sort((x, y) => x.value - y.value)
  const ranks = ranked.reduce((sum, { mine }, index) => (mine ? sum + index + 1 : sum), 0)
  return (ranks - (a.length * (a.length + 1)) / 2) / (a.length * b.length)
}
