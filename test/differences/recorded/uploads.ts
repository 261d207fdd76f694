import { album } from '../../uploads/album.ts'
import { form, png } from '../../uploads/png.ts'
import type { Cases } from './case.ts'

/** Files. */
export const uploads: Cases = {
  'the file of a deleted record': {
    row: 'a deleted record leaves its files',
    asks: async () => {
      const { upload, send, keys } = album()
      const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
      await send('DELETE', `/photos/${record._id}`)
      return (await keys()).length
    },
    there: 1,
    here: 0,
  },
  'multipart that breaks off': {
    row: 'malformed multipart is a 500',
    asks: async () => {
      const headers = { 'content-type': 'multipart/form-data; boundary=x' }
      const body = '--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nhalf'
      return (await album().send('POST', '/photos', { body, headers })).status
    },
    there: 500,
    here: 400,
  },
  'a file with a record that is refused': {
    row: 'files are stored before the record is checked',
    asks: async () => {
      const { upload, keys } = album()
      await upload('POST', '/photos', form({ title: 'x', rating: '9', image: png }))
      return (await keys()).length
    },
    there: 1,
    here: 0,
  },
  'a URL in a file field': {
    row: 'a client may write any URL into a file field',
    asks: async () => {
      const json = { title: 'x', image: 'https://example.com/x.png' }
      return (await album().send('POST', '/photos', { json })).record.image
    },
    there: 'https://example.com/x.png',
    here: undefined,
  },
  'an upload': {
    asks: async () => {
      const { upload } = album()
      const { status, record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
      return [status, typeof record.image]
    },
    there: [201, 'string'],
  },
}
