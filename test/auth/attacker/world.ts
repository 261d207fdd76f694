/**
 * Two apps on one database, as two processes serve it, with all ways to sign in, and four people: three who use it honestly,
 * one of them an admin, and an attacker. Everything that is ever shown to someone is kept, with whose it is and whether it is over.
 *
 * @module
 */

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
import { authOptions, secret, userModel } from '../accounts.ts'
import type { Authenticator } from '../methods/authenticator.ts'
import { Brought } from '../methods/brought.ts'

export type Name = 'ann' | 'bob' | 'root' | 'eve'
export const NAMES: readonly Name[] = ['ann', 'bob', 'root', 'eve']

/** What somebody was shown, or has chosen. */
export interface Shown {
  readonly value: string
  readonly kind: Kind
  readonly of: Name
  /** The account that it is for, where that is known. */
  readonly account: string | undefined
  /** The session that it belongs to. */
  readonly session?: string | undefined
  /** When it is over by itself, in epoch milliseconds. */
  readonly until: number
  /** Whether something has ended it. */
  isOver: boolean
}

export type Kind =
  | 'access token'
  | 'refresh token'
  | 'ticket'
  | 'ceremony'
  | 'key'
  | 'recovery code'
  | 'mailed code'
  | 'openid code'
  | 'password'

/** What a person has, besides what was shown to them. */
export interface Person {
  readonly name: Name
  readonly addresses: readonly string[]
  password: string
  readonly sessions: { account: string; token: string; refreshToken: string }[]
  /** The first proof of the account's address ends them, as it ends all from before. */
  readonly totps: { readonly account: string; readonly secret: string; readonly era: unknown }[]
  readonly passkeys: {
    readonly account: string
    readonly id: string
    readonly key: Authenticator
  }[]
  readonly keys: { readonly account: string; readonly id: string; readonly key: string }[]
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the answers of all routes
  readonly data: any
  readonly ticket: string | undefined
}

export interface Mail {
  readonly to: string
  readonly purpose: string
  readonly code?: string
  readonly text?: string
  readonly user?: Fields
}

const START = Date.UTC(2030, 0, 1)
const HOUR = 3_600_000

export type World = Awaited<ReturnType<typeof openWorld>>

/** Opens a world; `open` opens the store anew, for each of the processes. */
export async function openWorld(open: () => Store, number: number) {
  let now = START
  const [mails, events, lines]: [Mail[], Fields[], string[]] = [[], [], []]
  const [shown, over]: [Shown[], Shown[]] = [[], []]
  const creators = new Map<string, Name>()
  const line = (message: string, details?: object) =>
    void lines.push(`${message} ${JSON.stringify(details ?? {})}`)
  const brought = new Brought()

  const started: (readonly [ReturnType<typeof createApp>, ReturnType<typeof userModel>])[] = []
  // The second one is of a later version: it has another field, and the secret that comes next.
  for (const isLater of [false, true]) {
    const auth = {
      identifiers: ['email'],
      registerFields: ['name'],
      updateFields: ['name', 'email'],
      fields: { disabled: 'banned' },
      routes: { deleteUser: true },
      emailVerification: { enabled: true },
      social: { one: { verify: (body: Fields) => body.profile as never } },
      notices: true,
      token: { secret: isLater ? [secret, `next ${secret}`] : secret },
      methods: [
        brought.sealed(
          oidc({ name: 'company', issuer: 'https://c.example', clientId: 'a', returnTo: ['/in'] }),
        ),
        passkeys({ rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }),
        totp({ issuer: 'Atlas' }),
        emailCode({ signUp: true }),
        apiKeys(),
      ],
      mail: { sender: mailed },
      sms: undefined,
      onSecurityEvent: (event: object) => void events.push(event as Fields),
    }
    const User = userModel({
      auth: auth as never,
      unique: ['oneId'],
      fields: {
        banned: z.boolean().optional(),
        ...(isLater && { nickname: z.string().optional() }),
      },
    })
    const app = createApp({
      store: open(),
      logger: { debug: line, info: line, warn: line, error: line },
      now: () => now,
      env: {},
    })
    const router = createAuthRouter(authOptions(User, [], auth as never))
    app.mount('/auth', router.router)
    const Thing = defineModel('AttackThing', { fields: {} })
    const things = createRouter({ model: Thing, middlewares: [router.requireAuth] })
    things.get('/me', (request) => Response.json({ data: { _id: request.auth?.userId } }))
    app.mount('/things', things)
    await app.ready()
    started.push([app, User])
  }
  const users = started.map(([app, User]) => app.store.collection(User))[0] as {
    findById(id: string): Promise<Fields | null>
    update(id: string, change: Fields): Promise<unknown>
  }

  const people = Object.fromEntries(
    NAMES.map((name): [Name, Person] => {
      const addresses = ['', '2'].map((more) => `${name}${more}.${number}@example.com`)
      const password = `${name} chose this, number 0 of ${number}`
      const has = { sessions: [], totps: [], passkeys: [], keys: [] }
      return [name, { name, addresses, password, ...has }]
    }),
  ) as Record<Name, Person>

  function keep(of: Name, kind: Kind, value: unknown, more: Partial<Shown> = {}): void {
    const isKept = (one: Shown) => one.value === value && one.account === more.account
    if (typeof value !== 'string' || shown.some(isKept)) return
    shown.push({
      value,
      kind,
      of,
      account: undefined,
      until: now + 24 * HOUR,
      isOver: false,
      ...more,
    })
  }

  function mailed(mail: Mail): void {
    mails.push(mail)
    const of = NAMES.find((name) => people[name].addresses.includes(mail.to))
    // A newcomer has none yet.
    const account = mail.user?._id as string | undefined
    if (of && mail.code) keep(of, 'mailed code', mail.code, { account, until: now + 600_000 })
  }

  /** Keeps what an answer shows. */
  function harvest(of: Name, { data, ticket }: Answer, bearer = ''): void {
    const account = readable(bearer.split('.')[1]).sub as string | undefined
    if (ticket !== undefined) {
      const { id } = readable(ticket.split('~')[0])
      keep(of, 'ticket', ticket, { account: id as string, until: now + 300_000 })
    }
    if (typeof data?.token === 'string') {
      const { sub, sid, exp } = readable(data.token.split('.')[1])
      const whose = { account: String(sub), session: sid as string }
      keep(of, 'access token', data.token, { ...whose, until: (Number(exp) + 6) * 1000 })
      keep(of, 'refresh token', data.refreshToken, whose)
      if (!creators.has(whose.account)) creators.set(whose.account, of)
    }
    keep(of, 'ceremony', data?.ticket, { account, until: now + 16 * 60_000 })
    keep(of, 'key', data?.key, { account })
    for (const code of data?.recoveryCodes ?? []) keep(of, 'recovery code', code, { account })
  }

  function end(which: (one: Shown) => boolean): void {
    for (const one of shown) {
      if (one.isOver || !which(one)) continue
      one.isOver = true
      over.push(one)
    }
  }

  return {
    people,
    shown,
    /** What has ended, in that order. */
    over,
    mails,
    events,
    lines,
    users,
    keep,
    now: () => now,
    later(seconds: number) {
      now += seconds * 1000
      end(({ until }) => until < now)
    },
    /** Who made each account. */
    creators,
    /** Whose an account is: of whom has proven its address, else of whom made it. */
    async ownerOf(id: string): Promise<Name | undefined> {
      const record = await users.findById(id)
      if (!record) return undefined
      const { email, provenEmail } = record
      const isProven = typeof email === 'string' && email === provenEmail
      const prover = NAMES.find((name) => people[name].addresses.includes(String(email)))
      return isProven ? prover : creators.get(id)
    },
    /** Notes that something has ended. */
    end,
    /** A request of a person; at one of the two processes. */
    async ask(
      of: Name,
      method: string,
      path: string,
      { body, token, at = 0 }: { body?: object; token?: string; at?: number } = {},
    ): Promise<Answer> {
      const headers = {
        ...(body && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      }
      const to = `http://localhost${path.startsWith('/things') ? path : `/auth${path}`}`
      const background: Promise<unknown>[] = []
      const platform = {
        clientAddress: `192.0.2.${NAMES.indexOf(of)}`,
        waitUntil: (work: Promise<unknown>) => background.push(work),
      }
      const send = () => {
        const request = new Request(to, {
          method,
          headers,
          ...(body && { body: JSON.stringify(body) }),
        })
        return started[at % 2]?.[0].handle(request, undefined, platform) as Promise<Response>
      }
      let response = await send()
      // A busy machine may let a deadline pass; that says nothing of the rules.
      for (let tries = 0; response.status === 503 && tries < 5; tries += 1) {
        await wait(100)
        response = await send()
      }
      const text = await response.text()
      const { data, ticket } = text.startsWith('{') ? JSON.parse(text) : {}
      await Promise.all(background)
      const answer = { status: response.status, text, headers: response.headers, data, ticket }
      harvest(of, answer, token)
      return answer
    },
    /** The code that a browser brings back from the OpenID provider, which says so of a person. */
    brought: (sub: string, email: string | undefined, isVouched: unknown): Promise<string> =>
      brought.code('company', { sub, email, isVouched }, now + 60_000),
    /** The last code that was mailed to an address for a purpose. */
    mailed: (to: string, purpose: string) =>
      mails.findLast((mail) => mail.to === to && mail.purpose === purpose && mail.code)?.code,
    async close() {
      for (const [app] of started) await app.close()
    },
  }
}

/** The JSON in Base64url. */
function readable(text = ''): Fields {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return {}
  }
}
