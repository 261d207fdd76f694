/**
 * What a user of the client does, on any runtime. It imports no runtime and no test library.
 *
 * @module
 */

import { createClient, memoryStorage } from '../../src/client/index.ts'
import type { TestApp } from './app.ts'

/** Signs up, and reads and writes records, at `url`. The server's clock passes the token's end when countries are read. */
export async function journey(url: string): Promise<unknown[]> {
  const api = createClient<TestApp>(url, { storage: memoryStorage() })
  const seen: unknown[] = []
  const account = { email: `${crypto.randomUUID()}@example.com`, password: 'correct horse battery' }
  seen.push((await api('/auth').register(account)).ok)
  const { email: identifier, password } = account
  seen.push((await api('/auth').login({ identifier, password })).ok)
  seen.push((await api('/notes').create({ text: 'mine' })).ok)
  seen.push((await api('/countries').list()).ok)
  const notes = await api('/notes').list()
  seen.push(notes.ok && notes.data.map(({ text }) => text))

  const made = await api('/cities').create({ name: identifier, population: 5 })
  if (!made.ok) return [...seen, made.error]
  const photo = new File([PNG], 'dot.png', { type: 'image/png' })
  const shown = await api('/cities').update(made.data._id, { photo }, { ifMatch: made.data })
  seen.push(shown.ok && shown.data.photo?.endsWith('.png'))
  const stale = await api('/cities').update(made.data._id, { name: 'x' }, { ifMatch: made.data })
  seen.push(stale.ok || stale.error.status)
  for await (const { population } of api('/cities').all({ where: { name: [identifier] } })) {
    seen.push(population)
  }
  seen.push((await api('/cities').remove(made.data._id)).ok)
  const refused = await api('/cities').create({ name: '' })
  seen.push(refused.ok || Object.keys(refused.error.fields ?? {}))
  seen.push((await api('/auth').logout()).ok)
  const signedOut = await api('/notes').list()
  seen.push(signedOut.ok || signedOut.error.status)
  return seen
}

/** What a journey sees. */
export const JOURNEY: readonly unknown[] = [
  ...[true, true, true, true, ['mine']],
  ...[true, 412, 5, true, ['name'], true, 401],
]

const PNG = Uint8Array.from(
  atob(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  ),
  (character) => character.charCodeAt(0),
)
