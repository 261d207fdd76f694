import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { listenFailure } from '../../adapters/runtimes/start-failure.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp } from '../../src/index.ts'

it('says in one sentence why a server cannot listen, with the code of the error', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const app = createApp({ store: sqliteStore() })
  onTestFinished(async () => {
    taken.close()
    await app.close()
  })
  const { port } = taken.address() as { port: number }
  for (const processes of [1, 2]) {
    await expect(serve(app, { port, hostname: '127.0.0.1', processes })).rejects.toMatchObject({
      message: `serve: port ${port} is in use by another process. Stop that one, or take another port: serve(app, { port })`,
      code: 'EADDRINUSE',
    })
  }
  const low = Object.assign(new Error('listen'), { code: 'EACCES', syscall: 'listen' })
  expect(listenFailure(low, 80)).toMatchObject({
    message: 'serve: port 80 is not for this user. Take a port from 1024 on: serve(app, { port })',
  })
})

it('leaves errors of something else as they are', () => {
  const other = Object.assign(new Error('open'), { code: 'EACCES', syscall: 'open' })
  expect(listenFailure(other, 80)).toBe(other)
})
