import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { type Service, service } from './service.ts'

/** A way to the app on which every answer is lost: the connection is cut once the server begins to answer. */
async function lossyWay({ app }: Service): Promise<string> {
  const { url, close } = await serve(app, { hostname: '127.0.0.1', port: 0 })
  const { port } = new URL(url)
  const proxy = createServer((client) => {
    const server = connect(Number(port), '127.0.0.1')
    client.pipe(server)
    server.once('data', () => {
      server.destroy()
      client.destroy()
    })
    client.on('error', () => {})
    server.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(async () => {
    proxy.close()
    await close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

/** An app, and the refresh token of an account whose successor was lost on the way. */
async function lost(): Promise<{ app: Service; refreshToken: string }> {
  const app = await service()
  const { refreshToken, user } = await app.register('ann@example.com')
  const way = await lossyWay(app)
  const answer = fetch(`${way}/auth/token/refresh`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refreshToken }),
  })
  await expect(answer).rejects.toThrow()
  const [session] = (await app.stored(user._id)).refreshTokens as { previousHash?: string }[]
  expect(session?.previousHash).toBeDefined()
  return { app, refreshToken }
}

it('an answer that was lost after the rotation can be had again within the grace', async () => {
  const { app, refreshToken } = await lost()
  app.later(9)
  const again = await app.post('/auth/token/refresh', { refreshToken })
  expect(again.status).toBe(200)
  const next = await app.post('/auth/token/refresh', again.body.data)
  expect(next.status).toBe(200)
  expect((await app.call('GET', '/auth/me', undefined, again.body.data.token)).status).toBe(200)
})

it('after the grace it is a token used again, like any other', async () => {
  const { app, refreshToken } = await lost()
  app.later(11)
  expect((await app.post('/auth/token/refresh', { refreshToken })).status).toBe(401)
})
