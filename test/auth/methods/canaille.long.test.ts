import { describe, expect, it } from 'vitest'
import { oidc } from '../../../adapters/methods/oidc/index.ts'
import { CALLBACK } from '../../services/canaille.ts'
import { withService } from '../../services/shared.ts'
import { service } from '../service.ts'
import { Visitor } from './visitor.ts'

/** What a person types into the provider's forms. */
const TYPED = { login: 'ann', password: 'correct horse battery' }

/** Signs in at the provider as a browser does, by its forms; where that leads, outside of it. */
async function signedInAt(start: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = start
  let init: RequestInit = {}
  for (let steps = 0; steps < 20 && !url.startsWith(CALLBACK); steps += 1) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const headers = { cookie, referer: url }
    const response = await fetch(url, { ...init, redirect: 'manual', headers })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    init = location === null ? { method: 'POST', body: filled(await response.text()) } : {}
    url = new URL(location ?? url, url).href
  }
  return new URL(url)
}

/** The values of a page's form. */
function filled(page: string): URLSearchParams {
  const values = new URLSearchParams()
  for (const [tag] of page.matchAll(/<(?:input|button)\b[^>]*>/g)) {
    const [, name] = /\bname="([^"]*)"/.exec(tag) ?? []
    const [, value = ''] = /\bvalue="([^"]*)"/.exec(tag) ?? []
    if (name) values.set(name, TYPED[name as keyof typeof TYPED] ?? value)
  }
  return values
}

await withService('canaille', ({ issuer }) => {
  async function company(clientSecret = 'a-secret_of.the~provider') {
    const options = { name: 'company', issuer, clientId: 'atlas', clientSecret }
    const auth = { methods: [oidc({ ...options, returnTo: ['https://example.com/in'] })] }
    const app = await service({ auth, app: { now: Date.now } })
    const visitor = new Visitor(app.app)
    const answer = async (asked: URL) =>
      Object.fromEntries((await signedInAt(asked.href)).searchParams)
    return { ...app, visitor, answer }
  }

  describe('With Canaille', () => {
    it('a person signs in by its forms, again and again, to one account', async () => {
      const { visitor, answer, post } = await company()
      const users: object[] = []
      for (let each = 0; each < 2; each += 1) {
        const asked = await visitor.begin('company')
        const outcome = await visitor.answer(asked, await answer(asked))
        const { status, body } = await post('/auth/login/oidc', { code: outcome.get('code') })
        expect(status).toBe(200)
        users.push(body.data.user)
      }
      expect(users[0]).toMatchObject({ name: 'Ann Lee' })
      expect(users[1]).toEqual(users[0])
    })

    it('nobody signs in with the code of another browser, twice, or with a wrong secret', async () => {
      const { app, visitor, answer } = await company()
      const own = await visitor.begin('company')
      const { state, ...given } = await answer(own)
      const another = new Visitor(app)
      const asked = await another.begin('company')
      const failed = { error: 'sign_in_failed' }
      expect(Object.fromEntries(await another.answer(asked, given))).toEqual(failed)
      const wrong = await company('a guess')
      const begun = await wrong.visitor.begin('company')
      const outcome = await wrong.visitor.answer(begun, await wrong.answer(begun))
      expect(Object.fromEntries(outcome)).toEqual(failed)
    })
  })
})
