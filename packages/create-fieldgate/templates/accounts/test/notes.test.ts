import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, memoryStorage } from 'fieldgate/client'
import { sqliteStore } from 'fieldgate/sqlite'
import { type Api, makeApp } from '../src/make-app.ts'

const config = {
  // @if passkeys
  APP_ORIGIN: 'https://app.example.com',
  // @end
  APP_SECRET: 'only for tests, 0123456789abcdefghij',
  CORS_ORIGINS: [],
}
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const password = 'correct horse battery'

/** An app with a database in memory. Each client that it gives is another device. */
function testApp() {
  const app = makeApp(sqliteStore(), config, { logger: silent })
  const platform = { clientAddress: '127.0.0.1' }
  return () =>
    createClient<Api>('http://localhost', {
      storage: memoryStorage(),
      fetch: (url, init) => app.handle(new Request(url, init), undefined, platform),
    })
}

test('users sign up, sign in and keep notes that only they see', async () => {
  const device = testApp()
  const ann = device()
  const signedUp = await device()('/auth').register({ email: 'ann@example.com', password })
  equal(signedUp.ok, true)
  const signedIn = await ann('/auth').login({ identifier: 'ann@example.com', password })
  equal(signedIn.ok && signedIn.data.user.email, 'ann@example.com')

  const created = await ann('/notes').create({ title: 'Buy milk' })
  equal(created.ok && created.data.title, 'Buy milk')
  const found = await ann('/notes').list({ search: 'milk' })
  equal(found.ok && found.data.length, 1)

  const bob = device()
  await bob('/auth').register({ email: 'bob@example.com', password })
  const others = await bob('/notes').list()
  equal(others.ok && others.data.length, 0)
})

test('a note needs an account and a title', async () => {
  const device = testApp()()
  const stranger = await device('/notes').list()
  equal(stranger.ok || stranger.error.status, 401)

  await device('/auth').register({ email: 'ann@example.com', password })
  const refused = await device('/notes').create({ title: '' })
  equal(refused.ok || refused.error.status, 400)
})
// @if passkeys

test('a passkey belongs to the domain of the app', async () => {
  const begun = await testApp()()('/auth').beginPasskeyLogin()
  equal(begun.ok && 'rpId' in begun.data.publicKey && begun.data.publicKey.rpId, 'app.example.com')
})
// @end
