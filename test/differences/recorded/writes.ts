import { memoryCache } from '../../../adapters/caches/memory.ts'
import { ControllerSets } from '../../../extras/legacy/index.ts'
import { Book, shop } from './books.ts'
import { type Cases, each, record, starts, status } from './case.ts'

/** One member of the first book after a PATCH, or the status if it was refused. */
const patched = (json: object, name: string, path?: string) => async () => {
  const found = await record((await shop({ legacyMode: true })).patch(json, path))
  return typeof found === 'number' ? found : (found as Record<string, unknown>)[name]
}

/** One member of a new book, or the status if it was refused. */
const posted = (json: object, name: string) => async () => {
  const found = await record((await shop()).post({ title: 'x', ...json }))
  return typeof found === 'number' ? found : (found as Record<string, unknown>)[name]
}

/** The status of a request for the first book. */
const asked = (method: string, id: string, json?: object) => async () => {
  const { send, ids } = await shop()
  return status(send(method, `/books/${id || ids[0]}`, json && { json }))
}

const CAST = 'values are cast as Mongoose casts them'
const NOBODY = '0'.repeat(24)

/** Creating, changing and removing. */
export const writes: Cases = {
  'a POST': { asks: posted({ year: 2001 }, 'year'), there: 2001 },
  'a POST with a number as text': { asks: posted({ year: '2001' }, 'year'), there: 2001 },
  'a POST without a required field': { asks: posted({ title: null }, 'title'), there: 400 },
  'a POST of keys that nobody writes': { asks: posted({ __v: 7 }, '__v'), there: undefined },
  'a POST of nothing writable': {
    asks: async () => status((await shop()).post({ colour: 'red' })),
    there: 400,
  },
  'a POST of a unique value that is taken': { asks: posted({ code: '7' }, 'code'), there: 409 },
  'a PATCH': { asks: patched({ year: 5 }, 'year'), there: 5 },
  'a PATCH of a value that is wrong': { asks: patched({ year: 'x' }, 'year'), there: 400 },
  'a PATCH of no record': { asks: asked('PATCH', NOBODY, { year: 5 }), there: 404 },
  'a GET of no id': { asks: asked('GET', 'x'), there: 400 },
  'a GET of no record': { asks: asked('GET', NOBODY), there: 404 },
  'a DELETE': { asks: asked('DELETE', ''), there: 200 },
  'a DELETE of no record': { asks: asked('DELETE', NOBODY), there: 404 },
  'a PATCH with operators': { asks: patched({ $set: { year: 1 } }, 'year', '/books'), there: 400 },

  'a GET of 12 characters': {
    row: 'any 12 characters are an id',
    asks: asked('GET', 'abcdefghijkl'),
    there: 404,
    here: 400,
  },
  'null to a field that is not required': {
    row: '`null` is stored in every field that is not required',
    asks: patched({ pages: null }, 'pages'),
    there: null,
    here: undefined,
  },
  'two records without a unique field': {
    row: 'a unique field may lack in one record only',
    asks: async () => {
      const { post } = await shop()
      return [await status(post({ title: 'x' })), await status(post({ title: 'y' }))]
    },
    there: [201, 409],
    here: [201, 201],
  },
  'null to a field that takes it': { asks: patched({ year: null }, 'year'), there: null },
  'a PATCH of an object with a hidden member': {
    row: 'a PATCH of an object drops what the client cannot see of it',
    asks: async () => {
      const { patch, stored } = await shop()
      await patch({ place: { shelf: 'B' } })
      return (await stored()).place
    },
    there: { shelf: 'B' },
    here: { shelf: 'B', room: 'back' },
  },
  'a list of objects that is written back': {
    row: 'elements of a list keep their `_id`',
    asks: patched({ reviews: [{ _id: NOBODY, by: 'Ann' }] }, 'reviews'),
    there: [{ _id: NOBODY, by: 'Ann' }],
    here: [{ by: 'Ann' }],
  },
  'a failing runAfterCreate, then a cached list': {
    row: 'a failing `runAfterCreate` in strict mode',
    asks: async () => {
      const runAfterCreate = () => {
        throw new Error('no mail')
      }
      const strict = { cache: true, strictAfterCreate: true, runAfterCreate } as const
      const { get, post } = await shop(strict, { cache: memoryCache() })
      await get('/own')
      await post({ title: 'x' }, '/own')
      return (await get('/own')).headers.get('x-cache')
    },
    there: 'HIT',
    here: 'MISS',
  },

  'a number for a text': { row: CAST, asks: posted({ code: 12 }, 'code'), there: '12', here: 400 },
  'one text for a list': {
    row: CAST,
    asks: posted({ tags: 'a' }, 'tags'),
    there: ['a'],
    here: 400,
  },
  'numbers in a list of texts': {
    row: CAST,
    asks: posted({ tags: [1, 2] }, 'tags'),
    there: ['1', '2'],
    here: 400,
  },
  'a number for a boolean': {
    row: CAST,
    asks: posted({ rare: 1 }, 'rare'),
    there: true,
    here: 400,
  },
  'an empty text for a date': {
    row: CAST,
    asks: posted({ printed: '' }, 'printed'),
    there: null,
    here: 400,
  },
  'a date in words': {
    row: CAST,
    asks: posted({ printed: 'May 5, 2024 UTC' }, 'printed'),
    there: '2024-05-05T00:00:00.000Z',
    here: 400,
  },
  'a number with spaces': { row: CAST, asks: posted({ year: ' 3 ' }, 'year'), there: 3, here: 400 },
  'a record for its id': {
    row: CAST,
    asks: posted({ author: { _id: NOBODY } }, 'author'),
    there: NOBODY,
    here: 400,
  },

  'legacyMode: a POST of `_id`': {
    row: '2.x let clients write `_id`',
    asks: async () => {
      const made = await record(
        (await shop({ legacyMode: true })).post({ title: 'x', _id: NOBODY }, '/own'),
      )
      return (made as { _id: string })._id === NOBODY
    },
    there: true,
    here: false,
  },
  'legacyMode: a compare of a field that nobody knows': {
    row: 'a compare or range of an unknown field finds nothing',
    asks: async () =>
      each((await shop({ legacyMode: true })).get('/own?compareField=colour&compareValue=red')),
    there: [],
    here: 400,
  },
  'legacyMode: a repeated parameter of a list': {
    row: 'in 2.x a repeated parameter of a list field means exactly this list',
    asks: async () => {
      const { get, post } = await shop({ legacyMode: true })
      await post({ title: 'x', tags: ['a'] })
      await post({ title: 'y', tags: ['a', 'b'] })
      return each(get('/own?tags=a&tags=b'))
    },
    there: ['y'],
    here: ['x', 'y'],
  },
  'legacyMode: a POST of two records': {
    row: 'a POST of an array creates all of them',
    asks: async () =>
      status((await shop({ legacyMode: true })).post([{ title: 'x' }, { title: 'y' }], '/own')),
    there: 201,
    here: 400,
  },
  'legacyMode: a PATCH of a dotted name': {
    row: 'a PATCH may name a member by a dotted name',
    asks: patched({ 'place.shelf': 'B' }, 'place', '/own'),
    there: { shelf: 'B', room: 'back' },
    here: 400,
  },
  'ControllerSets with placeholders': {
    row: "`'none'` means no option",
    asks: () => starts(() => new ControllerSets(Book, 'none' as never, [], [], 'none' as never)),
    there: 'starts',
    here: 'is refused',
  },
}
