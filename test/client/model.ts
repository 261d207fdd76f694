/**
 * Random sign-ins, sign-outs, refreshes, expiries and failures of several clients, over a server and storages that answer in
 * any order, with what must hold of them. It imports no runtime and no test library.
 *
 * @module
 */

import { createClient } from '../../src/client/index.ts'
import { randomFrom } from '../random.ts'
import type { TestApp } from './app.ts'
import { ScriptedServer, ScriptedStorage } from './scripted.ts'

const URL = 'https://api.example.com'
const PATHS = ['/auth/token/refresh', '/auth/logout', '/cities', '/auth/login', '*']

/** Runs `steps` random steps; resolves to what went wrong. The same seed makes the same choices. */
export async function interleaved(seed: number, steps = 60): Promise<string[]> {
  const random = randomFrom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const wrong: string[] = []
  const server = new ScriptedServer()
  const waiting: (() => void)[] = []
  /** A request or an access to the storage waits for its turn, or not. */
  const later = () =>
    random() < 0.5 ? new Promise<void>((resolve) => waiting.push(resolve)) : undefined
  server.before = later
  server.after = later
  const shared = new ScriptedStorage()
  const name = String(seed)
  const clients = [
    clientOf(server, shared, `shared ${name}`),
    clientOf(server, shared, `shared ${name}`),
    clientOf(server, new ScriptedStorage(), undefined),
    clientOf(server, shared, `other ${name}`),
  ]
  for (const { storage } of clients) storage.before = later
  const calls: Promise<unknown>[] = []

  for (let step = 0; step < steps; step += 1) {
    const client = pick(clients)
    const { storage } = client
    const act = pick([
      () => calls.push(client.login(pick(['ann', 'bob', 'cy']))),
      () => calls.push(client.logout()),
      () => calls.push(client.list()),
      () => calls.push(client.list()),
      () => server.expire(),
      () => server.lost.add(pick(PATHS)),
      () => server.lost.clear(),
      () => storage.broken.add(pick(['getItem', 'setItem', 'removeItem'])),
      () => storage.broken.clear(),
      () => storage.items.set(storage.keyOf(), '{"token":'),
      () => waiting.splice(Math.floor(random() * waiting.length), 1)[0]?.(),
      () => waiting.splice(Math.floor(random() * waiting.length), 1)[0]?.(),
    ])
    act()
    await settled()
  }
  server.lost.clear()
  // All that is under way comes to its end.
  let isDone = false
  const done = Promise.all(calls).catch((error) => wrong.push(`a call threw ${error}`))
  void done.then(() => {
    isDone = true
  })
  while (!isDone) {
    for (const go of waiting.splice(0)) go()
    await settled()
  }
  for (const client of clients) wrong.push(...client.wrong)
  return wrong
}

/** A client, and what it did that it must not. */
function clientOf(server: ScriptedServer, storage: ScriptedStorage, key: string | undefined) {
  const wrong: string[] = []
  let told = 0
  let signedIn = 0
  let count = 0
  const api = createClient<TestApp>(URL, {
    storage,
    ...(key !== undefined && { key }),
    fetch: server.fetch,
    onSignedOut() {
      told += 1
    },
  })
  return {
    storage,
    wrong,
    async login(identifier: string) {
      const result = await api('/auth').login({ identifier, password: 'a long pass phrase' })
      if (result.ok) signedIn += 1
    },
    async logout() {
      await api('/auth').logout()
    },
    /** A call of two requests, all of which must carry tokens of one session. */
    async list() {
      count += 1
      const mark = `${key}-${Math.random()}-${count}`
      // A QUERY that is refused is followed by a GET.
      await api('/cities').list({ where: { name: 'a' }, headers: { 'X-Mark': mark } })
      const seen = server.seen.filter(({ headers }) => headers.get('X-Mark') === mark)
      const sessions = new Set(seen.map(({ session }) => session))
      if (sessions.size > 1) wrong.push(`a call was sent in ${[...sessions].join(' and ')}`)
      // The other clients of its storage sign in too, so that only more ends than sign-ins of all are too many.
      if (told > server.opened) wrong.push(`told ${told} times of ${signedIn} sessions`)
    },
  }
}

/** Lets everything go on that waits for nothing. Locks come from outside; without them no clock is waited for. */
async function settled(): Promise<void> {
  const hasLocks = 'locks' in globalThis.navigator
  await new Promise<void>((resolve) => {
    if (hasLocks) setTimeout(resolve)
    else setImmediate(resolve)
  })
}

/** After a sign-out, nobody is signed in; after a sign-in, that user is: whatever was on its way before. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one story, told in its order
export async function lastWins(seed: number): Promise<string[]> {
  const random = randomFrom(seed)
  const server = new ScriptedServer()
  const storage = new ScriptedStorage()
  const open = () =>
    createClient<TestApp>(URL, { storage, key: `last ${seed}`, fetch: server.fetch })
  const clients = [open(), open(), open()]
  const [one, two, three] = clients as [
    (typeof clients)[0],
    (typeof clients)[0],
    (typeof clients)[0],
  ]
  const login = (api: typeof one, identifier: string) =>
    api('/auth').login({ identifier, password: 'a long pass phrase' })
  const wrong: string[] = []
  await login(one, 'ann')
  server.expire()
  const waiting: (() => void)[] = []
  // Refreshes and reads of Ann are on their way in all clients.
  server.before = (path) =>
    path === '/auth/token/refresh' || path === '/auth/me'
      ? new Promise<void>((resolve) => waiting.push(resolve))
      : undefined
  server.after = server.before
  const calls = clients.map((api) => api('/auth').me())
  const some = Math.floor(random() * 8)
  for (let count = 0; count < some; count += 1) {
    await settled()
    waiting.splice(Math.floor(random() * waiting.length), 1)[0]?.()
  }
  const isOut = random() < 0.5
  if (random() < 0.5) server.lost.add('/auth/logout')
  if (isOut) await two('/auth').logout()
  else await login(two, 'bob')
  server.before = undefined
  server.after = undefined
  const before = server.seen.length
  for (const go of waiting) go()
  await Promise.all(calls)
  for (const { session } of server.seen.slice(before)) {
    if (session?.startsWith('bob')) wrong.push('a call of Ann was sent as Bob')
  }
  for (const api of [one, two, three]) {
    const me = await api('/auth').me()
    const user = me.ok ? me.data.email : me.error.status
    if (user !== (isOut ? 401 : 'bob'))
      wrong.push(`${user} is there after ${isOut ? 'a sign-out' : 'Bob'}`)
  }
  return wrong
}
