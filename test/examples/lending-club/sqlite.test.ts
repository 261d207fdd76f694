import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, onTestFinished } from 'vitest'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { club } from '../../../examples/lending-club/club.ts'
import { sender } from '../run.ts'
import { liveThrough, promoteIn } from './journey.ts'

it('people borrow tools from the lending club on SQLite', async () => {
  const root = mkdtempSync(join(tmpdir(), 'fieldgate-club-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const mails = new Map<string, string>()
  const secret = 'a secret for tests, longer than 32 characters'
  const app = club({
    store: sqliteStore(),
    files: diskFiles({ root, secret }),
    mail: { sender: ({ to, subject, text }) => void mails.set(to, `${subject}\n${text}`) },
    secret,
  })
  onTestFinished(() => app.close())
  const ask = (path: string, init: RequestInit) =>
    app.handle(new Request(new URL(path, 'http://club.example'), init))
  await liveThrough({
    ...{ send: sender('', ask), ask },
    mail: async (to) => mails.get(to) ?? '',
    promote: (email) => promoteIn(app, email),
  })
})
