import { expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { atlas } from '../../examples/atlas/app.ts'
import { seedingWith } from '../../examples/atlas/seeding.ts'

it('requests wait for the seed of the atlas, and its page tells how far it is', async () => {
  const seeding = seedingWith({ start() {}, advance() {}, stop() {} })
  const secret = 'a secret of at least 32 characters, for tests'
  const app = atlas({ store: sqliteStore(), secret, seeding: seeding.state }).use(seeding.guard)
  const ask = (path: string) =>
    app.handle(new Request(`http://localhost${path}`), undefined, { clientAddress: '127.0.0.1' })
  seeding.progress.start('cities', 4_000, 0)
  seeding.progress.advance(1_000)
  expect(await (await ask('/')).text()).toContain('1,000 of 4,000 cities are stored')
  let isOver = false
  const countries = ask('/countries').then((response) => {
    expect(isOver).toBe(true)
    return response.status
  })
  expect((await ask('/docs')).status).toBe(200)
  isOver = true
  seeding.end()
  expect(await countries).toBe(200)
  const page = await ask('/')
  expect(page.headers.get('Cache-Control')).toBe('public, max-age=300')
  const text = await page.text()
  expect(text).not.toContain('<progress')
  expect(text).toMatch(/<meta name="description" content="[^"]{50,160}">/)
})
