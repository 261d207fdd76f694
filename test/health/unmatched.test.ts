import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { metrics } from '../../src/health/index.ts'
import { HttpError } from '../../src/index.ts'
import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'
import { service } from '../records/service.ts'
import { album } from '../uploads/album.ts'
import { form, png } from '../uploads/png.ts'

/** The routes and statuses that were counted. */
const countedIn = (text: string) =>
  [...text.matchAll(/_count\{method="\w+",route="([^"]+)",status="(\d+)"\}/g)].map(
    ([, route, status]) => `${route} ${status}`,
  )

describe('a request is counted as unmatched', () => {
  it('if it is for a file, or for a path that does not exist', async () => {
    const { app, upload, send } = album()
    app.mount('/', metrics())
    const { record } = await upload('POST', '/photos', form({ title: 'cat', image: png }))
    await send('GET', String(record.image))
    await send('GET', '/nowhere')
    const counted = countedIn((await send('GET', '/metrics')).text)
    expect(counted.filter((line) => !line.startsWith('/photos'))).toEqual([
      expect.stringMatching(/^unmatched (?:200|403)$/),
      'unmatched 404',
    ])
  })

  it('if a guard of the app, or an outage at start-up, ends it', async () => {
    const { app, send } = service()
    app.use(({ method }) => {
      if (method === 'DELETE') throw new HttpError(403, 'Not you.')
    })
    app.mount('/', metrics())
    await send('DELETE', '/metrics')
    expect(countedIn((await send('GET', '/metrics')).text)).toEqual(['unmatched 403'])

    const store = sqliteStore()
    const prepare = async () => {
      throw new StoreUnavailable('connect ECONNREFUSED')
    }
    const { app: out, send: ask } = service({ store: { ...store, prepare } })
    out.mount('/', metrics())
    expect((await ask('GET', '/anything')).status).toBe(503)
    expect(countedIn((await ask('GET', '/metrics')).text)).toEqual(['unmatched 503'])
  })
})
