import dns from 'node:dns/promises'
import { createServer, type RequestListener } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, createServer as createRawServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { post } from '../../adapters/outbound/sockets.ts'

/** A server on this machine, and the paths that it was asked for. */
async function listening(respond: RequestListener = (_, response) => response.end()) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(`${request.headers.host} ${request.url}`)
    respond(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return { port: (server.address() as AddressInfo).port, paths }
}

/** Names lead to these addresses, one after the other. */
function resolving(...addresses: readonly string[]): { readonly calls: string[] } {
  const { lookup } = dns
  const calls: string[] = []
  const replaced = async (name: string) => {
    calls.push(name)
    return [{ address: addresses[calls.length - 1] ?? addresses.at(-1), family: 4 }]
  }
  Object.assign(dns, { lookup: replaced })
  syncBuiltinESMExports()
  onTestFinished(() => {
    Object.assign(dns, { lookup })
    syncBuiltinESMExports()
  })
  return { calls }
}

const request = (mayConnect?: (address: string) => boolean) => ({
  ...{ headers: { 'content-type': 'application/json' }, body: '{"a":"ü"}', mayConnect },
  signal: AbortSignal.timeout(5000),
})

describe('a request to a server that users name', () => {
  it('goes to the address that was judged, wherever the name leads a moment later', async () => {
    const { port, paths } = await listening()
    const { calls } = resolving('127.0.0.1', '10.0.0.1', '10.0.0.1')
    const judged: string[] = []
    const url = new URL(`http://rebind.example:${port}/hooks?a=1`)
    const status = await post(
      url,
      request((address) => judged.push(address) > 0),
    )
    expect(status).toBe(200)
    expect(calls).toEqual(['rebind.example'])
    expect(judged).toEqual(['127.0.0.1'])
    expect(paths).toEqual([`rebind.example:${port} /hooks?a=1`])
  })

  it('is refused before it connects if the name leads to an address that may not be', async () => {
    const { port, paths } = await listening()
    resolving('127.0.0.1')
    const url = new URL(`http://public.example:${port}/`)
    await expect(
      post(
        url,
        request(() => false),
      ),
    ).rejects.toThrow("'public.example' leads to an address that is not public")
    expect(paths).toEqual([])
    // A connection that another request has opened is not used either.
    expect(await post(url, request())).toBe(200)
    await expect(
      post(
        url,
        request(() => false),
      ),
    ).rejects.toThrow('not public')
    expect(paths).toHaveLength(1)
  })

  it('follows no redirect, and ends when its time is over', async () => {
    const time = new AbortController()
    const { port, paths } = await listening((given, response) => {
      if (given.url === '/slow') return time.abort()
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    resolving('127.0.0.1')
    expect(await post(new URL(`http://a.example:${port}/`), request())).toBe(307)
    const slow = { ...request(), signal: time.signal }
    await expect(post(new URL(`http://a.example:${port}/slow`), slow)).rejects.toThrow(/abort/i)
    expect(paths).toHaveLength(2)
  })

  it('reads no more of a long response than it needs', async () => {
    let isEnded = false
    const { port } = await listening((_, response) => {
      response.on('close', () => {
        isEnded = true
      })
      const write = () => {
        if (response.destroyed) return
        response.write('x'.repeat(60_000))
        setImmediate(write)
      }
      write()
    })
    resolving('127.0.0.1')
    expect(await post(new URL(`http://a.example:${port}/`), request())).toBe(200)
    await expect.poll(() => isEnded).toBe(true)
  })

  it.for([
    [
      'switches protocols',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade',
      101,
    ],
    ['ends in the middle', 'HTTP/1.1 200 OK\r\nContent-Length: 100', 200],
    ['responds twice', 'HTTP/1.1 204 OK\r\n\r\nHTTP/1.1 500 No', 204],
    ['speaks HTTP/1.0', 'HTTP/1.0 200 OK', 200],
    ['has a status of its own', 'HTTP/1.1 999 Fine', 999],
    ['writes what is no response', '\0\xff', undefined],
    ['has headers without an end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`, undefined],
  ] as const)('comes to an end if the server %s', async ([, head, status]) => {
    const server = createRawServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.write(`${head}\r\n\r\nbody`))
      if (status !== 101) socket.once('data', () => socket.end())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const failed = () => undefined
    expect(await post(url, request()).catch(failed)).toBe(status)
  })
})
