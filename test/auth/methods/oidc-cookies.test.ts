import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../../adapters/runtimes/node.ts'
import { company } from './oidc-world.ts'

it('sign-ins that are begun and left leave a browser with no more cookies than servers take', async () => {
  const app = await company()
  const { url, close } = await serve(app.app, { port: 0, hostname: '127.0.0.1', signals: false })
  onTestFinished(close)
  const begun: URL[] = []
  for (let tabs = 0; tabs < 50; tabs += 1) begun.push(await app.visitor.begin('company'))
  const cookie = [...app.visitor.cookies].map((each) => each.join('=')).join('; ')
  expect((await fetch(`${url}/auth/me`, { headers: { cookie } })).status).toBe(401)
  expect(app.visitor.cookies.size).toBe(8)
  // The latest ones can be finished, in any order.
  for (const asked of begun.slice(-8)) {
    app.issuer.say = { claims: { nonce: asked.searchParams.get('nonce') } }
    expect((await app.visitor.answer(asked, { code: 'c' })).has('code')).toBe(true)
  }
  expect(app.visitor.cookies.size).toBe(0)
})

it('a sign-in that begins leaves the cookies of others alone', async () => {
  const { visitor } = await company()
  for (let others = 0; others < 20; others += 1) visitor.cookies.set(`oidc-${others}`, 'x')
  await visitor.begin('company')
  expect(visitor.cookies.size).toBe(21)
})
