/**
 * Accounts as the tests of the authentication API have them: the user model, and options that go with it. Runs on any
 * runtime.
 *
 * @module
 */

import * as z from 'zod'
import {
  type AuthOptions,
  defineModel,
  type Fields,
  type Model,
  userFields,
} from '../../src/index.ts'

/** At least 32 characters. */
export const secret = 'a secret of the tests, 32 characters or more'

/** A password that every rule takes. */
export const password = 'correct horse battery'

/** A code on its way. */
export interface Sent {
  readonly to: string
  readonly code: string
  readonly channel: 'email' | 'sms'
}

/** What a test chooses of the model and its options. */
export interface AccountOptions {
  readonly auth?: Partial<AuthOptions<Fields>>
  /** Fields of the user model beside those of `userFields`. */
  readonly fields?: Record<string, z.ZodType>
  readonly unique?: readonly string[]
}

let cheapHashes = 0

/** Cheap and honest: tests of rules need no scrypt. */
export const cheap = {
  hash: async (plain: string): Promise<string> => {
    cheapHashes += 1
    return `cheap:${cheapHashes}:${plain}`
  },
  verify: async (plain: string, stored: string): Promise<boolean> =>
    stored.slice(stored.indexOf(':', 6) + 1) === plain,
}

const common = {
  identifiers: ['email', 'phone'],
  refresh: { enabled: true },
  registerFields: ['name'],
  updateFields: ['name'],
} as const

/** The user model that goes with `auth`. */
export function userModel({
  auth = {},
  fields = {},
  unique = [],
}: AccountOptions = {}): Model<Fields> {
  const options = { ...common, ...auth }
  return defineModel('User', {
    fields: {
      ...(userFields(options) as unknown as Record<string, z.ZodType>),
      name: z.string().max(100).optional(),
      ...fields,
    },
    unique: [
      ...options.identifiers.map((id) => {
        const name = typeof id === 'string' ? id : id.field
        return (options.fields as Record<string, string> | undefined)?.[name] ?? name
      }),
      ...unique,
    ] as never,
    timestamps: true,
  }) as unknown as Model<Fields>
}

/** The options of `createAuthRouter` that go with `auth`; sent codes are pushed to `sent`. */
export function authOptions(
  User: Model<Fields>,
  sent: Sent[],
  auth: Partial<AuthOptions<Fields>> = {},
): AuthOptions<Fields> {
  return {
    ...common,
    model: User,
    token: { secret },
    password: cheap,
    mail: { sender: ({ to, code }) => sent.push({ to, code, channel: 'email' }) },
    sms: { sender: ({ to, code }) => sent.push({ to, code, channel: 'sms' }) },
    ...auth,
    // Tests ask for codes in a row; the pause has tests of its own.
    otp: { resendSeconds: 0, ...auth.otp },
  }
}
