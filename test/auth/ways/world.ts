/**
 * An app with accounts, and two people who use it: the owner of a mailbox and an attacker. Each controls addresses and
 * provider accounts, and keeps everything that they get: passwords, codes, tokens and sessions.
 *
 * @module
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import { oidc } from '../../../adapters/methods/oidc/index.ts'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import {
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Store,
} from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { authOptions, userModel } from '../accounts.ts'
import type { Authenticator } from '../methods/authenticator.ts'
import { Brought, type Said } from '../methods/brought.ts'

/** Who acts. */
export type Person = 'owner' | 'attacker'

/** A session of a person, and its account. */
export interface Session {
  readonly id: string
  readonly token: string
  readonly refreshToken: string
}

/** What a person holds. */
export interface Holdings {
  readonly passwords: string[]
  readonly sessions: Session[]
  /** The ids of the provider accounts that the person has signed in with. */
  readonly links: Set<string>
  /** The OpenID providers that the person has signed in at. */
  readonly places: Set<string>
  readonly passkeys: Authenticator[]
  /** Secrets of authenticator apps. */
  readonly totps: string[]
  readonly recovery: string[]
  readonly keys: string[]
}

/** An answer: its status, the `data` member, and the ticket of a second step. */
export interface Answer {
  readonly status: number
  readonly data: Fields
  readonly ticket?: string | undefined
}

/** The step of authenticator apps at a time. */
export function stepAt(now: number): number {
  return Math.floor(now / 30_000)
}

/** One sequence's part of the app: addresses of its own, a clock of its own. */
export interface World {
  /** The real address or name behind a short one: `V` and `W` are the owner's, `A` and `B` the attacker's. */
  address(short: string): string
  holdings(person: Person): Holdings
  /** The codes that reached an address of the person, in their order. */
  codes(person: Person): readonly string[]
  ask(method: string, path: string, body?: Fields, token?: string): Promise<Answer>
  /** The code that a browser brings back from an OpenID provider that says so of a person. */
  brought(provider: string, person: Said): Promise<string>
  later(seconds: number): void
  now(): number
  /** Disables or enables an account. */
  disable(id: string, disabled: boolean): Promise<void>
  /** The accounts that were disabled at some time. */
  readonly disabled: ReadonlySet<string>
}

/** Short names: the owner's mailboxes, phone and user name, and the attacker's. */
export const OWNED: Readonly<Record<Person, readonly string[]>> = {
  owner: ['V', 'V2', 'W', 'U'],
  attacker: ['A', 'A2', 'B', 'N'],
}

/** The identifier field of each short name. */
export function fieldOf(short: string): 'email' | 'phone' | 'username' {
  if (/^[VA]/.test(short)) return 'email'
  return /^[WB]/.test(short) ? 'phone' : 'username'
}

const START = Date.UTC(2030, 0, 1)

/** Opens an app on `store`; `enter` gives each sequence a world of its own. */
export async function openApp(
  store: Store,
  more: object = {},
): Promise<{
  enter<T>(work: (world: World) => Promise<T>): Promise<T>
  close(): Promise<void>
}> {
  const clock = new AsyncLocalStorage<{ now: number }>()
  const boxes = new Map<string, { readonly code: string; readonly place: number }[]>()
  let places = 0
  const deliver = ({ to, code }: { to: string; code?: string }) => {
    places += 1
    if (code !== undefined) boxes.set(to, [...(boxes.get(to) ?? []), { code, place: places }])
  }
  const provider = { verify: (body: Fields) => body.profile as never }
  const brought = new Brought()
  const at = (name: string) => ({ name, issuer: `https://${name}.example`, clientId: 'atlas' })
  const methods = [
    ...['first', 'second', 'last'].map((name) =>
      brought.sealed(oidc({ ...at(name), returnTo: ['/in'] })),
    ),
    passkeys({ rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }),
    totp({ issuer: 'Atlas' }),
    emailCode({ signUp: true }),
    apiKeys(),
  ]
  const auth = {
    methods,
    identifiers: ['email', 'phone', 'username'],
    updateFields: ['email', 'phone', 'username'],
    registerFields: [],
    fields: { disabled: 'banned' },
    lockout: { maxAttempts: 1_000_000 },
    social: { one: provider, two: provider, last: provider },
    mail: { sender: deliver },
    sms: { sender: deliver },
    ...more,
  }
  const User = userModel({
    auth: auth as never,
    unique: ['oneId', 'twoId', 'lastId'],
    fields: { banned: z.boolean().optional() },
  })
  const quiet = () => {}
  const app = createApp({
    store,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    now: () => clock.getStore()?.now ?? START,
    env: {},
  })
  const router = createAuthRouter(authOptions(User, [], auth as never))
  app.mount('/auth', router.router)
  const Thing = defineModel('WaysThing', { fields: {} })
  const things = createRouter({ model: Thing, middlewares: [router.requireAuth] })
  things.get('/me', (request) => Response.json({ data: { _id: request.auth?.userId } }))
  app.mount('/things', things)
  await app.ready()
  const users = app.store.collection(User)
  // Several runs may share a database: each has addresses of its own.
  let worlds = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0

  function world(time: { now: number }): World {
    worlds += 1
    const number = worlds
    const disabled = new Set<string>()
    const held: Record<Person, Holdings> = { owner: empty(), attacker: empty() }
    const address = (short: string) => {
      const place = OWNED.owner.indexOf(short) + OWNED.attacker.indexOf(short) + 2
      const side = OWNED.owner.includes(short) ? 1 : 2
      if (fieldOf(short) === 'phone') return `+49${number}0${side}${place}`
      return fieldOf(short) === 'email'
        ? `${short}.${number}@example.com`.toLowerCase()
        : `${short}${number}`
    }
    let asked = 0
    return {
      address,
      holdings: (person) => held[person],
      codes(person) {
        const codes = OWNED[person].flatMap((short) => boxes.get(address(short)) ?? [])
        return codes.sort((a, b) => a.place - b.place).map(({ code }) => code)
      },
      async ask(method, path, body, token) {
        const headers = {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        }
        const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
        const to = path.startsWith('/things') ? path : `/auth${path}`
        const background: Promise<unknown>[] = []
        // Three places, in turn: those who have signed in somewhere are known there.
        asked += 1
        const clientAddress = `192.0.2.${asked % 3}`
        const waitUntil = (work: Promise<unknown>) => background.push(work)
        const platform = { clientAddress, waitUntil }
        const send = () =>
          app.handle(new Request(`http://localhost${to}`, init), undefined, platform)
        let response = await send()
        // A busy machine may let a deadline pass; that says nothing of the rules.
        for (let tries = 0; response.status === 503 && tries < 5; tries += 1) {
          await wait(200)
          response = await send()
        }
        const { data, ticket } = (await response.json()) as { data?: Fields; ticket?: string }
        // What is sent after the answer has arrived before the next request.
        await Promise.all(background)
        return { status: response.status, data: data ?? {}, ticket }
      },
      brought: (provider, person) => brought.code(provider, person, time.now + 60_000),
      now: () => time.now,
      later(seconds) {
        time.now += seconds * 1000
      },
      async disable(id, banned) {
        disabled.add(id)
        await users.update(id, { banned })
      },
      disabled,
    }
  }

  return {
    enter(work) {
      const time = { now: START }
      return clock.run(time, () => work(world(time)))
    },
    close: () => app.close(),
  }
}

function empty(): Holdings {
  const [links, places] = [new Set<string>(), new Set<string>()]
  const factors = { passkeys: [], totps: [], recovery: [], keys: [] }
  return { passwords: [], sessions: [], links, places, ...factors }
}
