import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from 'fieldgate/client'
import { sqliteStore } from 'fieldgate/sqlite'
import { type Api, makeApp } from '../src/make-app.ts'

const config = { API_KEY: 'only-for-tests-0123456789abcdefghij', CORS_ORIGINS: [] }
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A client of an app with a database in memory. */
function testClient(key = config.API_KEY) {
  const app = makeApp(sqliteStore(), config, { logger: silent })
  return createClient<Api>('http://localhost', {
    fetch(url, init) {
      const request = new Request(url, init)
      request.headers.set('X-API-Key', key)
      return app.handle(request, undefined, { clientAddress: '127.0.0.1' })
    },
  })
}

test('notes are created, found and deleted', async () => {
  const api = testClient()
  const created = await api('/notes').create({ title: 'Buy milk' })
  equal(created.ok && created.data.title, 'Buy milk')
  const found = await api('/notes').list({ search: 'milk' })
  equal(found.ok && found.data.length, 1)
  if (created.ok) await api('/notes').remove(created.data._id)
  const left = await api('/notes').list()
  equal(left.ok && left.data.length, 0)
})

test('a note needs a title, and the API key', async () => {
  const refused = await testClient()('/notes').create({ title: '' })
  equal(refused.ok || refused.error.status, 400)
  const stranger = await testClient('another-key')('/notes').list()
  equal(stranger.ok || stranger.error.status, 401)
})
