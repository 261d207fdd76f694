import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { it, onTestFinished } from 'vitest'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { club } from '../../../examples/lending-club/club.ts'
import { bundled } from '../../http/workerd.ts'
import { sender } from '../run.ts'
import { liveThrough, promoteIn } from './journey.ts'

const SECRET = 'a secret for tests, longer than 32 characters'

it('people borrow tools from the lending club on D1 and R2', { timeout: 120_000 }, async () => {
  const mails = new Map<string, string>()
  const post = createServer(async (request, response) => {
    const mail = JSON.parse(await text(request))
    mails.set(mail.to, `${mail.subject}\n${mail.text}`)
    response.end()
  })
  await new Promise<void>((resolve) => post.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void post.close())
  const { port } = post.address() as { port: number }
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: await bundled(new URL('../../../examples/lending-club/worker.ts', import.meta.url)),
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      d1Databases: ['DB'],
      r2Buckets: ['PHOTOS'],
      bindings: { SECRET, MAIL_API: `http://127.0.0.1:${port}` },
    }),
  )
  onTestFinished(() => miniflare.dispose())
  const base = (await miniflare.ready).origin
  const binding = (await miniflare.getD1Database('DB')) as unknown as D1Binding
  await liveThrough({
    send: sender(base, fetch),
    ask: (path, init) => fetch(new URL(path, base), init),
    mail: async (to) => mails.get(to) ?? '',
    async promote(email) {
      const app = club({
        ...{ store: d1Store(binding), files: {} as never, mail: { sender() {} }, secret: SECRET },
      })
      await promoteIn(app, email)
      await app.close()
    },
  })
})
