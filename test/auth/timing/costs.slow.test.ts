import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../../src/index.ts'
import type { Collection } from '../../../src/ports/store/store.ts'
import { cheap } from '../accounts.ts'
import { CLIENT, emailOf, type Kind, type Subject, subject } from './accounts.ts'
import { type Need, TIMED } from './measure.ts'

/** What takes a database or a processor its time. */
interface Costs {
  reads: number
  /** Writes that changed something: a database that finds nothing to change replies sooner. */
  writes: number
  hashes: number
  mails: number
}

const none: Costs = { reads: 0, writes: 0, hashes: 0, mails: 0 }
let costs = { ...none }

/** `store`, whose reads and writes are counted. */
function counted(store: Store): Store {
  const collection: Store['collection'] = (schema) => {
    const inner = store.collection(schema)
    const counting: Partial<Collection> = {
      find: (read) => {
        costs.reads += 1
        return inner.find(read)
      },
      insert: (record) => {
        costs.writes += 1
        return inner.insert(record)
      },
      update: async (...each) => {
        const changed = await inner.update(...each)
        if (changed) costs.writes += 1
        return changed
      },
      findJson: undefined as never,
    }
    return Object.assign(Object.create(inner), counting)
  }
  return Object.assign(Object.create(store), { collection })
}

const hashing = {
  hash(plain: string) {
    costs.hashes += 1
    return cheap.hash(plain)
  },
  verify(plain: string, stored: string) {
    costs.hashes += 1
    return cheap.verify(plain, stored)
  },
}

let one: Subject
beforeEach(async () => {
  one = subject(counted(sqliteStore()), hashing, () => {
    costs.mails += 1
  })
  await one.prepare()
})
afterEach(() => one.app.close())

/** What a request costs before its answer and after it, and how many milliseconds the answer takes. */
async function costOf(path: string, given: object | Promise<object>, token?: Promise<string>) {
  const body = await given
  const bearer = await token
  await one.restore()
  const background: Promise<unknown>[] = []
  const init = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(bearer && { authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify(body),
  }
  const waitUntil = (work: Promise<unknown>) => background.push(work)
  costs = { ...none }
  const start = performance.now()
  const request = new Request(`http://localhost/auth/${path}`, init)
  const { status } = await one.app.handle(request, undefined, { clientAddress: CLIENT, waitUntil })
  const took = performance.now() - start
  const before = costs
  costs = { ...none }
  await Promise.all(background)
  // Nobody sees when a mail leaves, as long as the answer left before it.
  return { costs: { before, after: { ...costs, mails: 0 } }, status, took }
}

/** Asks the app for what a request needs. */
const need: Need = async (path, body) => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const request = new Request(new URL(`http://localhost/auth/${path}`), {
    ...init,
    body: JSON.stringify(body),
  })
  return ((await (await one.app.handle(request)).json()) as { data: never }).data
}

describe.each(TIMED)('POST /auth/$path', ({ path, body, token, kinds }) => {
  const cost = (kind: Kind) => costOf(path, body(emailOf(kind), need), token?.(emailOf(kind), need))
  const [first, ...others] = kinds as readonly [Kind, ...Kind[]]

  it('reads, writes and hashes as much for every kind of account', async () => {
    const known = await cost(first)
    expect(known.costs.before.reads).toBeGreaterThan(0)
    for (const kind of others) {
      const { costs, status } = await cost(kind)
      expect([kind, status, costs]).toEqual([kind, known.status, known.costs])
    }
  })

  // A guard in front of all routes can't wait; a key that is wrong is looked up, and nothing else.
  if (token) return
  it('refuses at the end of a step of time', async () => {
    for (const kind of kinds) {
      const { status, took } = await cost(kind)
      // A timer of five milliseconds may be early by one.
      if (status !== 200) expect(took).toBeGreaterThan(3.9)
    }
  })
})
