import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter, createRouter } from '../../src/index.ts'
import { authOptions, userModel } from './accounts.ts'

const nothing = () => {}
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

type Lists = {
  readonly allowedFields: unknown
  readonly guarded?: boolean
  readonly access?: object
}

/** Starts an app with a record router over the user model, mounted before or after the auth router. */
async function start({ allowedFields, guarded = false, access }: Lists, isFirst: boolean) {
  const social = { google: { clientId: 'app' } }
  const model = userModel({
    auth: { social } as never,
    unique: ['googleId'],
  } as never)
  const auth = createAuthRouter(authOptions(model, [], { social } as never))
  const app = createApp({ store: sqliteStore(), logger: silent } as never)
  const { requireAuth } = auth
  const middlewares = guarded ? [requireAuth, auth.requireRole('admin')] : [requireAuth]
  const router = createRouter({
    model,
    middlewares,
    allowedFields,
    ...(access && { access }),
  } as never)
  if (!isFirst) app.mount('/auth', auth.router)
  app.mount('/people', router)
  if (isFirst) app.mount('/auth', auth.router)
  try {
    await app.ready()
  } finally {
    await app.close()
  }
}

describe.each([true, false])('a record router over accounts (mounted first: %s)', (isFirst) => {
  const fields = ['password', 'refreshTokens', 'lockedUntil', 'otpHash', 'googleId', 'email']
  it.each(fields)('may not let clients write %s, to no role', async (field) => {
    const refusal = new RegExp(`'allowedFields' names '${field}'.*only the auth routes write it`)
    for (const guarded of [false, true]) {
      for (const allowedFields of [['name', field], { create: [field], update: ['name'] }]) {
        await expect(start({ allowedFields, guarded }, isFirst)).rejects.toThrow(refusal)
      }
    }
  })

  it('may not let clients write the addresses to which codes go, though nobody signs in by them', async () => {
    for (const [deliver, field] of [
      [{ mail: { sender: nothing, toField: 'recovery' }, sms: undefined }, 'recovery'],
      [{ mail: undefined, sms: { sender: nothing, toField: 'mobile' } }, 'mobile'],
      [{ mail: undefined, sms: undefined, otp: { deliver: nothing } }, 'email'],
    ] as const) {
      const options = { identifiers: ['username'], ...deliver } as never
      const text = z.string().optional()
      const fields = { recovery: text, mobile: text, email: text, phone: text }
      const model = userModel({ auth: options, fields } as never)
      const auth = createAuthRouter(authOptions(model, [], options))
      const app = createApp({ store: sqliteStore(), logger: silent } as never)
      const router = (...allowedFields: string[]) =>
        createRouter({ model, middlewares: [auth.requireAuth], allowedFields } as never)
      const mount = async (...names: string[]) => {
        const parts = [['/auth', auth.router] as const, ['/people', router(...names)] as const]
        for (const [path, part] of isFirst ? parts.reverse() : parts) app.mount(path, part as never)
        await app.ready()
      }
      try {
        const refusal = new RegExp(
          `'allowedFields' names '${field}'.*only the auth routes write it`,
        )
        await expect(mount('name', field)).rejects.toThrow(refusal)
      } finally {
        await app.close()
      }
    }
  })

  it('lets clients write the role only behind requireRole on all writing routes', async () => {
    const allowedFields = ['name', 'role']
    const refusal = /'allowedFields' names 'role'.*requireRole/
    await expect(start({ allowedFields }, isFirst)).rejects.toThrow(refusal)
    await start({ allowedFields, guarded: true }, isFirst)
    await expect(start({ allowedFields, access: { list: false } }, isFirst)).rejects.toThrow(
      refusal,
    )
    await start({ allowedFields, access: { create: false, update: false } }, isFirst)
    await start({ allowedFields: ['name'] }, isFirst)
  })
})
