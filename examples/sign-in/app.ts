/**
 * Accounts with passkeys, an authenticator app as a second factor, recovery codes and codes by mail, and a page for all of it.
 *
 * In this repository `npm run example examples/sign-in/main.ts`, then open http://localhost:3000. Codes are printed instead of
 * mailed. In your own project `npm install fieldgate zod @simplewebauthn/server @simplewebauthn/browser`, and build page.ts with
 * your bundler.
 *
 * @module
 */

import { createApp, createAuthRouter, type SentMail, type Store } from 'fieldgate'
import { emailCode } from 'fieldgate/email-code'
import { passkeys } from 'fieldgate/passkeys'
import { totp } from 'fieldgate/totp'

/** What the app needs from outside. */
export interface Outside {
  readonly store: Store
  readonly secret: string
  /** Where the page is: passkeys belong to it. */
  readonly origin: string
  readonly send: (mail: SentMail) => unknown
  /** page.html, and page.ts as a bundle. */
  readonly page: { readonly html: string; readonly script: string }
}

/** The app; `Api` is what the page calls. */
export function signIn({ store, secret, origin, send, page }: Outside) {
  const auth = createAuthRouter({
    token: { secret },
    refresh: { enabled: true },
    mail: { sender: send },
    methods: [
      passkeys({ rpId: new URL(origin).hostname, rpName: 'Sign-in example', origins: [origin] }),
      totp({ issuer: 'Sign-in example' }),
      emailCode(),
    ],
  })
  const app = createApp({ store, secret })
  app.get('/', () => file(page.html, 'text/html; charset=utf-8'))
  app.get('/page.js', () => file(page.script, 'text/javascript'))
  return app.mount('/auth', auth.router)
}

function file(content: string, type: string): Response {
  return new Response(content, { headers: { 'Content-Type': type } })
}

export type Api = ReturnType<typeof signIn>
