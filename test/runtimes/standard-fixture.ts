/** A server that is asked twice, and tells what Node has loaded for it. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import * as z from 'zod'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'

const Book = defineModel('Book', { fields: { title: z.string() } })
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const app = createApp({ store: sqliteStore(), logger })
const seen: [Request | undefined, Response | undefined] = [undefined, undefined]
app.use((request, context) => {
  context.onResponse((response) => {
    seen[1] = response
  })
  seen[0] = request
})
app.mount('/books', createRouter({ model: Book, middlewares: [], allowedFields: ['title'] }))
const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })

async function ask(head: string, body = ''): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  socket.write(`${head}\r\nHost: a\r\nConnection: close\r\n${type}\r\n${body}`)
  const [line = ''] = (await text(socket)).split('\r\n')
  return line
}

const loaded = () =>
  (process as unknown as { moduleLoadList: string[] }).moduleLoadList.filter((name) =>
    name.includes('undici'),
  )

const answer = [
  await ask('GET /nothing HTTP/1.1'),
  await ask('POST /books HTTP/1.1', '{"title":"Cosmos"}'),
  await ask('GET /books?s=x HTTP/1.1'),
]
const before = loaded()
if (process.argv.includes('--busy')) {
  for (let sent = answer.length; sent < 1000; sent += 1) await ask('GET /nothing HTTP/1.1')
}
const [request, response] = seen
const busy = loaded().length
const passes = [
  request?.headers instanceof Headers,
  request instanceof Request,
  response instanceof Response,
]
console.log(JSON.stringify({ answer, before, busy, passes, after: loaded() }))
await close()
