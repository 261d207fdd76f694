/**
 * What both bare servers do alike: bodies in, JSON out, and accounts by node:crypto.
 *
 * @module
 */

import { createHmac, scrypt, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

const hashOf = promisify<string, Buffer, number, object, Buffer>(scrypt)
const SECRET = 'a secret that guards nothing, for the bench'
const HEADER = Buffer.from('{"alg":"HS256","typ":"at+jwt"}').toString('base64url')

/** Serves `answer` on a free port and says which. `search` begins with its question mark. */
export function listen(
  answer: (
    request: IncomingMessage,
    response: ServerResponse,
    pathname: string,
    search: string,
  ) => unknown,
): void {
  const failed = (response: ServerResponse, error: unknown) => {
    console.error(error)
    send(response, { success: false, error: 'Internal Server Error' }, 500)
  }
  const server = createServer((request, response) => {
    const { url = '/' } = request
    const end = url.indexOf('?')
    const [pathname, search] = end === -1 ? [url, ''] : [url.slice(0, end), url.slice(end)]
    try {
      const answered = answer(request, response, pathname, search)
      if (answered instanceof Promise) answered.catch((error) => failed(response, error))
    } catch (error) {
      failed(response, error)
    }
  })
  server.listen(0, '127.0.0.1', () => {
    console.log(`listening ${(server.address() as AddressInfo).port}`)
  })
}

/** The JSON of the body. */
export function bodyOf<T>(request: IncomingMessage): Promise<T> {
  return new Promise((resolve, reject) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.on('error', reject)
    request.on('end', () => {
      try {
        resolve(JSON.parse(text) as T)
      } catch (error) {
        reject(error)
      }
    })
  })
}

export function send(response: ServerResponse, body: unknown, status = 200): void {
  sendText(response, JSON.stringify(body), status)
}

export function sendText(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

/** Whether `scrypt$<N>$<r>$<p>$<salt>$<hash>` is of this password. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [, cost, r, p, salt = '', hash = ''] = stored.split('$')
  const expected = Buffer.from(hash, 'base64url')
  const options = { N: Number(cost), r: Number(r), p: Number(p), maxmem: 64 * 1024 * 1024 }
  const found = await hashOf(password, Buffer.from(salt, 'base64url'), expected.length, options)
  return timingSafeEqual(found, expected)
}

export function sign(sub: string, role: string): string {
  const iat = Math.floor(Date.now() / 1000)
  const claims = Buffer.from(JSON.stringify({ sub, role, iat, exp: iat + 900 }))
  const signed = `${HEADER}.${claims.toString('base64url')}`
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`
}

/** The account's id in a genuine token, as it stands in the Authorization header. */
export function verify(authorization = ''): string | undefined {
  const token = authorization.replace(/^Bearer /, '')
  const end = token.lastIndexOf('.')
  const mac = createHmac('sha256', SECRET).update(token.slice(0, end)).digest()
  const given = Buffer.from(token.slice(end + 1), 'base64url')
  if (given.length !== mac.length || !timingSafeEqual(given, mac)) return undefined
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return claims.exp > Date.now() / 1000 ? claims.sub : undefined
}

export const CONSTANT = JSON.stringify({ success: true, data: { message: 'hello' } })
