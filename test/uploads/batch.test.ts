import { describe, expect, it } from 'vitest'
import { batch } from '../../src/batch/index.ts'
import { type AlbumOptions, album } from './album.ts'
import { form, png } from './png.ts'

/** An album with a batch, and two photos with a file each. */
async function photos(options: AlbumOptions = {}) {
  const made = album(options)
  made.app.mount('/batch', batch())
  const ids: string[] = []
  for (const title of ['cat', 'dog']) {
    const { record } = await made.upload('POST', '/photos', form({ title, image: png }))
    ids.push(String(record._id))
  }
  const send = (operations: readonly object[]) =>
    made.send('POST', '/batch', { json: { operations } })
  const [cat, dog] = ids
  const remove = { method: 'DELETE', path: `/photos/${cat}` }
  const clear = { method: 'PATCH', path: `/photos/${dog}`, body: { image: null } }
  return { ...made, batch: send, remove, clear }
}

describe('the files of records that a batch deletes or changes', () => {
  it('are removed once everything is written', async () => {
    const { batch, keys, remove, clear } = await photos()
    expect((await batch([remove, clear])).status).toBe(200)
    expect(await keys()).toEqual([])
  })

  it('are named in one line of the log if the storage is gone, however many there are', async () => {
    const { batch, keys, log, remove, clear } = await photos({
      async before(call) {
        const why = new Error('the disk is gone')
        if (call === 'delete') throw new TypeError('no removal', { cause: why })
      },
    })
    expect((await batch([remove, clear])).status).toBe(200)
    expect(await keys()).toHaveLength(2)
    const told = log.lines.map(({ details }) => details.error)
    expect(told).toEqual(['no removal: the disk is gone'])
  })

  it('stay if one operation is refused', async () => {
    const { batch, keys, calls, remove, clear } = await photos()
    const refused = await batch([remove, clear, { ...remove, path: `/photos/${'0'.repeat(24)}` }])
    expect([refused.status, (refused.body as { operation?: number }).operation]).toEqual([404, 2])
    expect(await keys()).toHaveLength(2)
    expect(calls).not.toContain('delete')
  })
})

describe('an operation of a batch', () => {
  it('places no file: a URL of its own is dropped, as in any JSON body', async () => {
    const { batch, keys } = await photos()
    const body = { title: 'bird', image: 'https://evil.example/a.png' }
    const made = await batch([{ method: 'POST', path: '/photos', body }])
    expect(made.body.data).toMatchObject([{ status: 201, body: { data: { title: 'bird' } } }])
    expect(made.text).not.toContain('evil')
    expect(await keys()).toHaveLength(2)
  })
})
