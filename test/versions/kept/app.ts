/** An app with all that clients and databases keep when its process ends: `kept-fixture.ts` wrote down what an earlier version gave. */

import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { consume } from '../../../src/background/changes/index.ts'
import { jobs } from '../../../src/background/jobs/index.ts'
import { idempotency } from '../../../src/guards/index.ts'
import { createApp, createAuthRouter, createRouter, defineModel, ref } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'

/** Whose data and promises are kept: a time at which `kept-fixture.ts` ran. */
export const THEN = Date.parse('2026-11-30T09:00:00.000Z')

export const secret = 'a secret of the time before, 0123456789'
export const [email, other, password] = [
  'ada@example.com',
  'bob@example.com',
  'correct horse battery',
]

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** What JSON it is, if any. */
  // biome-ignore lint/suspicious/noExplicitAny: what comes is looked at, not typed.
  readonly body: any
}

const Country = defineModel('Country', {
  fields: {
    name: z.string().max(80),
    active: z.boolean().default(true),
    area: z.number().optional(),
    founded: z.date().optional(),
    tags: z.array(z.string()).default([]),
    parent: ref('Country', { onDelete: 'unset' }).optional(),
  },
  unique: ['name'],
  indexes: [['active', '-area'], 'founded'],
  changes: { keep: 'forever' },
})

/** The app over a SQLite file, at a time that stands still. */
export function keptApp(path: string, now: number) {
  const mails: { readonly code?: string | undefined }[] = []
  const seen: string[] = []
  const ran: Date[] = []
  const app = createApp({
    ...{ store: sqliteStore({ path }), secret, env: {}, now: () => now },
    logger: { debug() {}, info() {}, warn() {}, error: (...line) => console.error(...line) },
  })
  const auth = createAuthRouter({
    fields: { name: z.string().max(50).optional() },
    ...{ token: { secret }, refresh: { enabled: true } },
    mail: { sender: (mail) => void mails.push(mail) },
    methods: [totp({ issuer: 'Kept' }), emailCode(), apiKeys()],
  })
  app.mount('/auth', auth.router)
  const router = createRouter({
    model: Country,
    access: { restore: [] },
    middlewares: [auth.requireAuth, idempotency({ ttlSeconds: 86_400 })],
    ...{ pagination: 'cursor', orderBy: '-area', search: ['name'], expandable: ['parent'] },
    ...{ history: true, live: true, enableQuery: true },
    sortableFields: ['name', 'area', 'founded', 'active'],
    allowedFields: ['name', 'active', 'area', 'founded', 'tags', 'parent'],
  })
  app.mount('/countries', router)
  consume(app, 'reader', {
    models: [Country],
    from: 'start',
    handle: ({ kind, after }) => void seen.push(`${kind} ${String(after?.name)}`),
  })
  jobs(app, { nightly: { schedule: '0 3 * * *', run: ({ at }) => void ran.push(at) } })
  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const work: Promise<unknown>[] = []
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const response = await app.handle(request, undefined, { waitUntil: (one) => work.push(one) })
    await Promise.all(work)
    const text = await response.text()
    const { status, headers: given } = response
    return { status, headers: given, body: text === '' ? undefined : JSON.parse(text) }
  }
  return { app, send, mails, seen, ran }
}

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
