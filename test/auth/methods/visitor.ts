/**
 * A browser that signs in at providers: it keeps cookies, and goes where redirects lead.
 *
 * @module
 */

import type { App } from '../../../src/index.ts'

/** Where a redirect leads, or what a page says. */
export interface Step {
  readonly status: number
  readonly location: string
  readonly text: string
}

/** A browser. */
export class Visitor {
  /** Cookies of the app, by name. */
  readonly cookies = new Map<string, string>()
  readonly #app: Pick<App, 'handle'>
  readonly #origin: string

  constructor(app: Pick<App, 'handle'>, origin = 'https://api.example.com') {
    this.#app = app
    this.#origin = origin
  }

  /** Opens a page of the app. */
  async open(path: string): Promise<Step & { readonly set: readonly string[] }> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const request = new Request(new URL(path, this.#origin), { headers: { cookie } })
    const response = await this.#app.handle(request)
    const set = response.headers.getSetCookie()
    for (const one of set) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? []
      if (/max-age=0/i.test(one)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    const location = response.headers.get('location') ?? ''
    return { status: response.status, location, text: await response.text(), set }
  }

  /** Begins a sign-in: where the provider is asked. */
  async begin(
    name: string,
    returnTo = 'https://example.com/in',
    more: Readonly<Record<string, string>> = {},
  ): Promise<URL> {
    const step = await this.open(
      `/auth/login/oidc/${name}?${new URLSearchParams({ returnTo, ...more })}`,
    )
    if (step.status !== 302) throw new Error(`${step.status} ${step.text}`)
    return new URL(step.location)
  }

  /** Brings an answer of the provider back to where it was asked from: what the page gets after `#`. */
  async answer(asked: URL, answer: Readonly<Record<string, string>>): Promise<URLSearchParams> {
    const { pathname } = new URL(asked.searchParams.get('redirect_uri') ?? '')
    const state = asked.searchParams.get('state') ?? ''
    const step = await this.open(`${pathname}?${new URLSearchParams({ state, ...answer })}`)
    if (step.status !== 302) throw new Error(`${step.status} ${step.text}`)
    return new URLSearchParams(step.location.slice(step.location.indexOf('#') + 1))
  }
}
