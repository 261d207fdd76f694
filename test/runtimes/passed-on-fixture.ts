/** An app that passes on what `fetch` gets it from the server in its argument; prints what a client gets, in each coding. */

import process from 'node:process'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp } from '../../src/index.ts'

const app = createApp({ store: sqliteStore() })
app.get('/:coding', (request) => fetch(`${process.argv.at(-1)}/${request.params.coding}`))
const seen: Record<string, readonly [coding: string | null, length: string | null, body: string]> =
  {}
for (const coding of ['gzip', 'br', 'zstd', 'identity']) {
  const response = await app.handle(new Request(`http://localhost/${coding}`))
  const bytes = Buffer.from(await response.arrayBuffer())
  const { headers } = response
  const length = headers.get('content-length')
  seen[coding] = [headers.get('content-encoding'), length, bytes.toString('base64')]
}
console.log(JSON.stringify(seen))
process.exit()
