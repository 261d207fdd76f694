import { join } from 'node:path'
import { build } from 'esbuild'
import type { CDPSession } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { passkeys } from '../../adapters/methods/passkeys/index.ts'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter, defineModel, userFields } from '../../src/index.ts'
import { cheap } from '../auth/accounts.ts'
import { authenticatorOf, type Chromium, startChromium, type Tab } from '../services/chromium.ts'
import { freePorts } from '../services/server.ts'
import { withService } from '../services/shared.ts'

const user = { email: 'ann@example.com', password: 'correct horse battery' }

/** A program for the page: a client of the app, and what it can do there. */
const PROGRAM = `
  import { createClient } from './src/client/index.ts'
  globalThis.auth = createClient(location.origin)('/auth')
`

interface Call {
  readonly ok: boolean
  readonly data?: { readonly name?: string; readonly user?: { readonly email: string } }
  readonly error?: { readonly status: number; readonly message: string }
}
declare const auth: {
  register(body: object): Promise<Call>
  logout(): Promise<Call>
  me(): Promise<Call>
  passkeys: {
    register(options?: object): Promise<Call>
    signIn(options?: object): Promise<Call>
    confirm(): Promise<Call>
  }
}

await withService('chromium', () => {
  describe('Passkeys in a browser', () => {
    let chromium: Chromium
    let server: Awaited<ReturnType<typeof serve>>
    const events: string[] = []
    let tab: Tab
    let device: CDPSession
    let authenticatorId = ''

    beforeAll(async () => {
      chromium = await startChromium({ isWhole: true })
      const { outputFiles } = await build({
        stdin: { contents: PROGRAM, resolveDir: join(import.meta.dirname, '../..') },
        bundle: true,
        format: 'esm',
        write: false,
      })
      const User = defineModel('PasskeyUser', {
        fields: userFields({ refresh: {} }),
        unique: ['email'],
      })
      const origins: string[] = []
      const app = createApp({
        store: sqliteStore(),
        logger: { debug() {}, info() {}, warn() {}, error: console.error },
      })
      app.use((request) => {
        const { pathname } = new URL(request.url)
        const html = { headers: { 'Content-Type': 'text/html' } }
        const js = { headers: { 'Content-Type': 'text/javascript' } }
        if (pathname === '/page.js') return new Response(outputFiles[0]?.text, js)
        return pathname === '/' ? new Response(PAGE, html) : undefined
      })
      // The port is not known before the server listens.
      const [port = 0] = await freePorts(1)
      origins.push(`http://localhost:${port}`)
      const options = { rpId: 'localhost', rpName: 'Atlas', origins }
      const auth = createAuthRouter({
        model: User,
        token: { secret: 'a secret of the tests, 32 characters or more' },
        password: cheap,
        refresh: { enabled: true },
        methods: [passkeys(options)],
        onSecurityEvent: ({ type }) => void events.push(type),
      })
      app.mount('/auth', auth.router)
      server = await serve(app, { port, hostname: '127.0.0.1' })
      tab = await chromium.open(`http://localhost:${port}/`)
      ;({ device, authenticatorId } = await authenticatorOf(tab.page))
      await tab.page.waitForFunction(() => 'auth' in globalThis)
    })
    afterAll(async () => {
      await chromium?.stop()
      await server?.close()
    })
    const signIn = () => tab.page.evaluate(() => auth.passkeys.signIn())
    const signOut = () => tab.page.evaluate(() => auth.logout())

    it('are registered, and sign in', async () => {
      await tab.page.evaluate((body) => auth.register(body), user)
      const made = await tab.page.evaluate(() => auth.passkeys.register({ name: 'Laptop' }))
      expect(made).toMatchObject({ ok: true, data: { name: 'Laptop' } })
      await signOut()
      expect(await signIn()).toMatchObject({ ok: true, data: { user: { email: user.email } } })
      expect(await tab.page.evaluate(() => auth.me())).toMatchObject({
        data: { email: user.email },
      })
    })

    it('confirm who is signed in, and nobody else', async () => {
      const confirm = () => tab.page.evaluate(() => auth.passkeys.confirm())
      expect(await confirm()).toMatchObject({ ok: true })
      await signOut()
      expect(await confirm()).toMatchObject({ ok: false, error: { status: 401 } })
    })

    it('are offered in a field of the page', async () => {
      await signOut()
      const signedIn = await tab.page.evaluate(() => auth.passkeys.signIn({ autofill: true }))
      expect(signedIn).toMatchObject({ ok: true, data: { user: { email: user.email } } })
    })

    it('are no more offered once the user has pressed a button', async () => {
      await signOut()
      const [offered, signedIn, offeredLater] = await tab.page.evaluate(() =>
        Promise.all([
          auth.passkeys.signIn({ autofill: true }),
          auth.passkeys.signIn(),
          auth.passkeys.signIn({ autofill: true }),
        ]),
      )
      const tooLate = { status: 0, message: 'Another way in has begun.' }
      expect([offered, offeredLater]).toEqual(
        [tooLate, tooLate].map((error) => ({ ok: false, error })),
      )
      expect(signedIn).toMatchObject({ ok: true, data: { user: { email: user.email } } })
    })

    it('that are offered late do not end what the user waits for', async () => {
      await signOut()
      // The browser says that it can offer passkeys only once it asks the device for what the user wants.
      const signedIn = await tab.page.evaluate(async () => {
        const { get } = navigator.credentials
        const { isConditionalMediationAvailable } = PublicKeyCredential
        const [offering, wanting] = [Promise.withResolvers(), Promise.withResolvers()]
        PublicKeyCredential.isConditionalMediationAvailable = async () => {
          offering.resolve(undefined)
          await wanting.promise
          return true
        }
        let first = true
        navigator.credentials.get = async (options) => {
          const isFirst = first
          first = false
          wanting.resolve(undefined)
          // The device asks nobody, until the offer is there.
          if (isFirst) await new Promise((resolve) => setTimeout(resolve))
          return get.call(navigator.credentials, options)
        }
        try {
          const offer = auth.passkeys.signIn({ autofill: true })
          await offering.promise
          return await auth.passkeys.signIn().finally(() => offer)
        } finally {
          Object.assign(navigator.credentials, { get })
          Object.assign(PublicKeyCredential, { isConditionalMediationAvailable })
        }
      })
      expect(signedIn).toMatchObject({ ok: true, data: { user: { email: user.email } } })
    })

    it('with a lower count are refused: there may be a copy', async () => {
      const { credentials } = await device.send('WebAuthn.getCredentials', { authenticatorId })
      const [credential] = credentials
      expect(credential?.signCount).toBeGreaterThan(1)
      await device.send('WebAuthn.clearCredentials', { authenticatorId })
      const copy = { ...(credential as NonNullable<typeof credential>), signCount: 0 }
      await device.send('WebAuthn.addCredential', { authenticatorId, credential: copy })
      await signOut()
      expect(await signIn()).toMatchObject({
        ok: false,
        error: { message: 'Invalid credentials.' },
      })
      expect(events).toContain('passkey-cloned')
    })

    it('that the user does not confirm are a failure of the call', async () => {
      await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
      const failed = await signIn()
      expect(failed).toMatchObject({ ok: false, error: { status: 0 } })
    })
  })
})

const PAGE =
  '<!doctype html><link rel="icon" href="data:,"><title>passkeys</title><input autocomplete="username webauthn"><script type="module" src="/page.js"></script>'
