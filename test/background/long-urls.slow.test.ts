import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { runDue } from '../../src/background/webhooks/index.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { apps } from './apps.ts'
import { received, SECRET, sending, tasks } from './sending.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it('an endpoint that fails and has a long URL keeps no webhook from the others', async () => {
    const schema = fresh()
    const its = apps('2026-11-26T12:00:00Z', () => postgresStore({ url, schema }))
    const broken = await received(SECRET, () => 500)
    const works = await received(SECRET)
    // Longer than what PostgreSQL takes into an index, also compressed.
    const long = `${broken.url}?token=${randomBytes(4000).toString('base64url')}`
    const endpoints = [long, works.url].map((one) => ({ url: one, secret: SECRET }))
    const app = await sending(its, { endpoints })
    for (const title of ['a', 'b']) {
      const { _id } = await tasks(app).insert({ title })
      await tasks(app).update(_id, { title: `${title}${title}` })
    }
    // Transactions of other tests keep the log from being read to its end.
    const sent = async () => {
      await runDue(app)
      return works.received.length
    }
    await expect.poll(sent).toBe(4)
    its.clock.at += 2000
    await runDue(app)
    expect(works.received.map(({ body }) => body.data.title).sort()).toEqual(['a', 'aa', 'b', 'bb'])
    expect(await app.background[0]?.status()).toMatchObject({ waiting: 4, aside: 0 })
    // The first of each record, twice.
    expect(broken.received).toHaveLength(4)
  })
})
