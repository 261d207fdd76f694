/**
 * A process that writes records with files until it is killed: `node writer.ts <database> <root or ''> <writers>`.
 * Tells each acknowledged write on a line of its own: `made <id>`, `changed <id>`, `gone <id>`.
 *
 * @module
 */

import { writeSync } from 'node:fs'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { s3Files } from '../../../adapters/files/s3.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { form, png } from '../../uploads/png.ts'
import { album } from './servers/album.ts'

const [path = '', root = '', writers = '4'] = process.argv.slice(2)
const files = root
  ? diskFiles({ root, secret: 'a secret of at least thirty-two characters' })
  : s3Files()
const app = album({ store: sqliteStore({ path }), files })

/** Of a size that takes a moment to store. */
function photo(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(20_000 + Math.floor(Math.random() * 400_000))
  bytes.set(png)
  return bytes
}

async function send(method: string, path: string, body?: FormData): Promise<string> {
  const request = new Request(`http://localhost/photos${path}`, { method, ...(body && { body }) })
  const response = await app.handle(request)
  const { data, error } = (await response.json()) as { data?: { _id: string }; error?: string }
  if (!response.ok) throw new Error(error)
  return data?._id ?? ''
}

const say = (line: string) => writeSync(1, `${line}\n`)

async function writeForever(): Promise<never> {
  const mine: string[] = []
  for (;;) {
    const dice = Math.random()
    const id = mine[Math.floor(Math.random() * mine.length)]
    if (id === undefined || dice < 0.4) {
      const made = await send('POST', '', form({ image: photo(), others: [photo(), photo()] }))
      mine.push(made)
      say(`made ${made}`)
    } else if (dice < 0.75) {
      await send('PATCH', `/${id}`, form({ image: photo() }))
      say(`changed ${id}`)
    } else {
      mine.splice(mine.indexOf(id), 1)
      say(`leaving ${id}`)
      await send('DELETE', `/${id}`)
      say(`gone ${id}`)
    }
  }
}

// The first write loads what writes need: the clock of the kill starts after it.
await send('DELETE', `/${await send('POST', '', form({ image: photo() }))}`)
say('ready')
await Promise.all(Array.from({ length: Number(writers) }, writeForever))
