/**
 * An app with accounts and all methods, and what scenarios do in the name of people.
 *
 * @module
 */

import * as z from 'zod'
import { oidc } from '../../../adapters/methods/oidc/index.ts'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import {
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Model,
} from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { codeAt } from '../../../src/methods/totp/codes.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { cheap, password, secret, userModel } from '../../auth/accounts.ts'
import { Authenticator } from '../../auth/methods/authenticator.ts'
import { Brought } from '../../auth/methods/brought.ts'
import type { Place, Served } from './place.ts'
import type { Scenario, Step } from './run.ts'

const provider = { verify: (body: Fields) => body.profile as never }
const common = {
  identifiers: ['email', 'phone'],
  registerFields: ['name'],
  updateFields: ['name', 'email', 'phone'],
  refresh: { enabled: true },
  emailVerification: { enabled: true },
  social: { one: provider },
  fields: { disabled: 'banned' },
}
const brought = new Brought()
const methods = [
  brought.sealed(
    oidc({ name: 'company', issuer: 'https://c.example', clientId: 'a', returnTo: ['/in'] }),
  ),
  passkeys({ rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }),
  totp({ issuer: 'Atlas' }),
  emailCode({ signUp: true }),
  apiKeys({ maxPerUser: 3 }),
]
const Thing = defineModel('StepThing', { fields: { title: z.string().optional() } })

/** Notes in a place what was told to somebody. */
export type Tell = (what: string, details?: Fields) => void

/** What scenarios find: accounts with these options, beside those that all have; `hooks` tell of themselves. */
export function accountsWith(more: object, hooks: (tell: Tell) => object = () => ({})): Served {
  const options = { ...common, ...more }
  const User = userModel({
    auth: options as never,
    unique: ['oneId'],
    fields: { banned: z.boolean().optional() },
  })
  return {
    mount(app, faults, place) {
      const tell: Tell = (what, details = {}) => void place.told.push({ what, details })
      const sender = (channel: string) =>
        faults.around(channel, {
          async send(message: Fields) {
            tell(`${channel} ${message.purpose} ${message.to}`, message)
          },
        })
      const [mail, sms] = [sender('mail'), sender('sms')]
      const auth = createAuthRouter({
        ...options,
        model: User,
        token: { secret },
        password: cheap,
        routes: { deleteUser: true },
        notices: true,
        otp: { resendSeconds: 0 },
        mail: { sender: (message: object) => mail.send(message as Fields) },
        sms: { sender: (message: object) => sms.send(message as Fields) },
        onSecurityEvent: (event: { type: string }) => tell(`event ${event.type}`, event as never),
        ...hooks(tell),
      } as never)
      app.mount('/auth', auth.router)
      app.mount('/things', createRouter({ model: Thing, middlewares: [auth.requireAuth] }))
      place.kept.set('users', User)
    },
  }
}

export const served: Served = accountsWith({ methods })

export const ANN = 'ann@example.com'
export const BOB = 'bob@example.com'
export const NEW = 'a new battery of horses'

/** What a scenario does in the name of people. */
export class People {
  readonly place: Place
  constructor(place: Place) {
    this.place = place
  }
  post(path: string, body: object = {}, token?: string) {
    return this.place.post(`/auth${path}`, body, token)
  }
  call(method: string, path: string, body?: object, token?: string) {
    return this.place.ask(method, `/auth${path}`, body, { token })
  }
  async register(email = ANN, more: object = {}) {
    const { status, body, text } = await this.post('/register', { email, password, ...more })
    if (status !== 201) throw new Error(text)
    return body.data as { token: string; refreshToken: string; user: { _id: string } }
  }
  code(purpose: string, to?: string): string {
    const sent = this.place.told.findLast(
      ({ what }) => what.startsWith('mail') && what.includes(purpose) && (!to || what.includes(to)),
    )
    return String(sent?.details.code)
  }
  async prove(email: string, token: string) {
    await this.post('/email/code', { identifier: email }, token)
    const otp = this.code('emailVerification', email)
    const { status, text } = await this.post('/email/verify', { identifier: email, otp }, token)
    if (status !== 200) throw new Error(text)
  }
  /** An admin beside whom others may be. */
  async admin(email = 'admin@example.com') {
    const made = await this.register(email)
    await this.makeAdmin(made.user._id)
    return made
  }
  async makeAdmin(id: string): Promise<void> {
    const User = this.place.kept.get('users') as Model<Fields>
    await this.place.app.store.collection(User).update(id, { role: 'admin' })
  }
  async enrol(token: string) {
    const begun = (await this.post('/totp', {}, token)).body.data
    const code = await this.totp(begun.secret)
    const made = await this.post('/totp/confirm', { ticket: begun.ticket, code }, token)
    if (made.status !== 200) throw new Error(made.text)
    return { secret: String(begun.secret), codes: made.body.data.recoveryCodes as string[] }
  }
  totp(key: string): Promise<string> {
    return codeAt(key, Math.floor(this.place.time / 30_000))
  }
  async ticket(): Promise<string> {
    return (await this.post('/login', { identifier: ANN, password })).body.ticket
  }
  async strong(key: string): Promise<string> {
    this.place.later(31)
    const body = { ticket: await this.ticket(), totp: await this.totp(key) }
    return (await this.post('/login', body)).body.data.token
  }
  async passkey(token: string, device = new Authenticator()) {
    const begun = (await this.post('/passkeys/options', {}, token)).body.data
    const credential = await device.create(begun.publicKey)
    const made = await this.post('/passkeys', { ticket: begun.ticket, credential }, token)
    if (made.status !== 201) throw new Error(made.text)
    return { device, id: String(made.body.data.id) }
  }
  async assertion(device: Authenticator) {
    const { publicKey, ticket } = (await this.post('/login/passkey/options')).body.data
    return { ticket, credential: await device.get(publicKey) }
  }
  async opensBy(device: Authenticator): Promise<boolean> {
    return (await this.post('/login/passkey', await this.assertion(device))).status === 200
  }
  async byPasskey(device: Authenticator): Promise<string> {
    return (await this.post('/login/passkey', await this.assertion(device))).body.data.token
  }
  async key(token: string) {
    const allow = [{ mount: '/things', actions: ['list'] }]
    const made = await this.post('/keys', { name: 'CI', allow }, token)
    if (made.status !== 201) throw new Error(made.text)
    return made.body.data as { id: string; key: string }
  }
  brought(sub: string, email?: string, isVouched = true): Promise<string> {
    return brought.code('company', { sub, email, isVouched }, this.place.time + 60_000)
  }
  async things(token: string): Promise<number> {
    return (await this.place.ask('GET', '/things', undefined, { token })).status
  }
  async opens(identifier: string, plain = password): Promise<boolean> {
    const { status, body } = await this.post('/login', { identifier, password: plain })
    return status === 200 || body.ticket !== undefined
  }
}

/** Says what is not as it should be. */
export async function wrong(
  ...said: readonly (readonly [string, boolean | Promise<boolean>])[]
): Promise<string[]> {
  const out: string[] = []
  for (const [text, is] of said) if (!(await is)) out.push(text)
  return out
}

export function scenario(
  name: string,
  prepare: (people: People, place: Place) => Promise<Step>,
  at: Served = served,
): Scenario {
  return { name, served: at, prepare: (place) => prepare(new People(place), place) }
}
