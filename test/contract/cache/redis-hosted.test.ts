/** What services of Redis differ in: a certificate that no public authority has signed, and versions without HELLO. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { redisCache } from '../../../adapters/caches/redis.ts'
import { CERTIFICATE, KEY } from '../../services/certificate.ts'

it('a cache in Redis trusts the certificate that it is given, and no other', async () => {
  const port = await listening(createTlsServer({ key: KEY, cert: CERTIFICATE }, serve))
  const url = `rediss://localhost:${port}`
  const strange = redisCache({ url })
  onTestFinished(() => strange.close?.())
  await expect(strange.get('a')).rejects.toThrow('self-signed certificate')
  for (const tls of [{ ca: CERTIFICATE }, { rejectUnauthorized: false }]) {
    const cache = redisCache({ url, tls })
    onTestFinished(() => cache.close?.())
    await cache.set('a', 'kept', 60)
    expect(await cache.get('a')).toBe('kept')
  }
})

it('a cache in Redis with options for TLS goes nowhere without it', () => {
  expect(() => redisCache({ url: 'redis://localhost', tls: {} })).toThrow(
    "redisCache: 'tls' needs a 'url' with rediss://",
  )
})

it('a cache in Redis speaks to a server that knows no HELLO, as before version 6', async () => {
  const port = await listening(createServer(serve))
  const cache = redisCache({ url: `redis://:secret@localhost:${port}` })
  onTestFinished(() => cache.close?.())
  await cache.set('a', 'kept', 60)
  expect(await cache.get('a')).toBe('kept')
})

async function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close())
  await once(server.listen(0), 'listening')
  return (server.address() as AddressInfo).port
}

const kept = new Map<string, string>()

/** Enough of a server: passwords are right, and values stay. */
function serve(socket: Socket): void {
  socket.on('error', () => {})
  socket.on('data', (sent) => {
    // *3\r\n$3\r\nSET\r\n$1\r\na\r\n…
    const commands = sent
      .toString()
      .split(/\*\d+\r\n/)
      .slice(1)
    for (const command of commands) {
      const [name = '', key = '', value = ''] = command
        .split('\r\n')
        .filter((_, at) => at % 2 === 1)
      socket.write(answer(name.toUpperCase(), key, value))
    }
  })
}

function answer(name: string, key: string, value: string): string {
  if (name === 'AUTH') return '+OK\r\n'
  if (name === 'SET') {
    kept.set(key, value)
    return '+OK\r\n'
  }
  const found = kept.get(key) ?? ''
  return name === 'GET' ? `$${found.length}\r\n${found}\r\n` : `-ERR unknown command '${name}'\r\n`
}
