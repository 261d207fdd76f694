import { describe, expect, it, test } from 'vitest'
import * as z from 'zod'
import {
  type AppOptions,
  createRouter,
  defineModel,
  type RouterOptions,
  ref,
} from '../../../src/index.ts'
import { standingClock } from '../../standing-clock.ts'
import { service } from '../service.ts'

const Owner = defineModel('ExportOwner', {
  fields: { name: z.string(), pin: z.string() },
  hidden: ['pin'],
})
const fields = {
  name: z.string(),
  size: z.number().nullish(),
  at: z.date().optional(),
  tags: z.array(z.string()).optional(),
  place: z.object({ x: z.number() }).optional(),
  parts: z
    .array(z.object({ size: z.number().nullish(), owner: ref('ExportOwner').optional() }))
    .optional(),
  owner: ref('ExportOwner').optional(),
  owners: z.array(ref('ExportOwner')).optional(),
  secret: z.string().optional(),
}
const Row = defineModel('ExportRow', { fields, hidden: ['secret'], indexes: ['size'] })
type Values = z.infer<z.ZodObject<typeof fields>>
type Options = Partial<Omit<RouterOptions<Values>, 'model'>>

function opened(options: Options = {}, app: Partial<AppOptions> = {}) {
  const { app: own, send } = service(app)
  own.mount('/owners', createRouter({ model: Owner, middlewares: [] }))
  own.mount(
    '/rows',
    createRouter({
      model: Row,
      middlewares: [],
      query: ['name', 'size'],
      search: ['name'],
      expandable: ['owner', 'owners', 'parts.owner'],
      exportLimit: 10_000,
      ...options,
    }),
  )
  const rows = own.store.collection(Row)
  const get = (accept: string, url = '') => send('GET', `/rows${url}`, { headers: { accept } })
  return { app: own, send, rows, owners: own.store.collection(Owner), get }
}

type Expanded = { name: string; owner?: { name: string } }

const CSV = 'text/csv'
const NDJSON = 'application/x-ndjson'
/** The lines of a file. */
const linesOf = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

describe('a list as CSV', () => {
  it('has a header row, quotes as RFC 4180 says, and lists and objects as JSON', async () => {
    const { rows, get } = opened()
    const at = new Date('2026-01-02T03:04:05.678Z')
    const all = { size: -1.5, at, tags: ['a', 'b"c'], place: { x: 1 }, secret: 's' }
    const { _id } = await rows.insert({ name: 'a,"b"\nc', ...all })
    const empty = await rows.insert({ name: '', size: null })
    const { status, text, headers } = await get(CSV)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(headers.get('content-disposition')).toBe('attachment; filename="rows.csv"')
    expect(headers.get('vary')).toBe('Accept')
    expect(text).toBe(
      [
        '_id,name,size,at,tags,place,parts,owner,owners',
        `${_id},"a,""b""\nc",-1.5,2026-01-02T03:04:05.678Z,"[""a"",""b\\""c""]","{""x"":1}",,,`,
        `${empty._id},,,,,,,,`,
        '',
      ].join('\r\n'),
    )
  })

  test.each([...'=+-@\t\r\n\0＝＋－＠'])(
    'holds nothing that a spreadsheet runs: %j',
    async (start) => {
      const { rows, get } = opened()
      const name = `${start}1`
      const { _id } = await rows.insert({ name, size: -1 })
      const { text } = await get(CSV, '?select=name,size')
      const cell = /[\r\n]/.test(name) ? `"'${name}"` : `'${name}`
      expect(text).toBe(`_id,name,size\r\n${_id},${cell},-1\r\n`)
    },
  )

  it('has the chosen fields in their order, and a column for each field of an expanded record', async () => {
    const { rows, owners, get } = opened()
    const ann = await owners.insert({ name: 'Ann', pin: '1' })
    const { _id } = await rows.insert({
      name: 'x',
      place: { x: 2 },
      owner: ann._id,
      owners: [ann._id],
    })
    const none = await rows.insert({ name: 'y' })
    expect((await get(CSV, '?select=place.x,name')).text).toBe(
      `_id,place.x,name\r\n${_id},2,x\r\n${none._id},,y\r\n`,
    )
    expect((await get(CSV, '?select=name&expand=owner,owners')).text).toBe(
      [
        '_id,name,owner._id,owner.name,owners',
        `${_id},x,${ann._id},Ann,"[{""_id"":""${ann._id}"",""name"":""Ann""}]"`,
        `${none._id},y,,,`,
        '',
      ].join('\r\n'),
    )
  })

  it('has what is chosen of objects in a list as a list', async () => {
    const { rows, owners, get } = opened()
    const ann = await owners.insert({ name: 'Ann', pin: '1' })
    const parts = [{ size: 1, owner: ann._id }, { size: null }, {}]
    const { _id } = await rows.insert({ name: 'x', parts })
    const none = await rows.insert({ name: 'y', parts: [] })
    expect((await get(CSV, '?select=parts.size,parts.owner.name&expand=parts.owner')).text).toBe(
      [
        '_id,parts.size,parts.owner',
        `${_id},"[1,null,null]","[{""_id"":""${ann._id}"",""name"":""Ann""},null,null]"`,
        `${none._id},[],[]`,
        '',
      ].join('\r\n'),
    )
  })

  it("has what a model's `output` makes of records, and fields that only later ones have", async () => {
    const Loud = defineModel('ExportLoud', {
      fields: { name: z.string(), note: z.string().optional(), pin: z.string().optional() },
      output: ({ pin, ...rest }) => ({ ...rest, loud: rest.name.toUpperCase() }),
    })
    const { app, send } = service()
    app.mount('/loud', createRouter({ model: Loud, middlewares: [], exportLimit: 1000 }))
    const records = app.store.collection(Loud)
    await records.insert({ name: 'n', pin: '1' })
    for (let at = 0; at < 150; at += 1) await records.insert({ name: 'n' })
    const { _id } = await records.insert({ name: 'last', note: 'seen' })
    const { text } = await send('GET', '/loud', { headers: { accept: CSV } })
    expect(text.split('\r\n').at(0)).toBe('_id,name,loud,note')
    expect(text.split('\r\n').at(-2)).toBe(`${_id},last,LAST,seen`)
  })

  it('has no name of what `output` adds that a spreadsheet runs', async () => {
    const model = defineModel('ExportRunRow', {
      fields: { more: z.record(z.string(), z.string()) },
      output: ({ _id, more }) => ({ _id, ...more }),
    })
    const { app, send } = opened()
    app.mount('/runs', createRouter({ model, middlewares: [], exportLimit: 10 }))
    const { _id } = await app.store.collection(model).insert({ more: { '=1+1': 'a' } })
    const { text } = await send('GET', '/runs', { headers: { accept: CSV } })
    expect(text).toBe(`_id,'=1+1\r\n${_id},a\r\n`)
  })

  it('has the columns of an expanded reference that `output` leaves as it is, not of one that it makes anew', async () => {
    const file = async (output: (record: never) => unknown) => {
      const Owned = defineModel('ExportOwned', {
        fields: { name: z.string(), owner: ref('ExportOwner').optional() },
        output: output as () => unknown,
      })
      const { app, send } = service()
      app.mount('/owners', createRouter({ model: Owner, middlewares: [] }))
      const router = { model: Owned, middlewares: [], exportLimit: 10, expandable: ['owner'] }
      app.mount('/owned', createRouter(router as never))
      const owner = await app.store.collection(Owner).insert({ name: 'Ann', pin: '1' })
      const owned = app.store.collection(Owned)
      for (const one of [{ name: 'a', owner: owner._id }, { name: 'b' }]) await owned.insert(one)
      const { text } = await send('GET', '/owned?expand=owner', { headers: { accept: CSV } })
      return text.replaceAll(/[0-9a-f]{24}/g, 'ID')
    }
    const whole = await file(({ name, owner }: Expanded) => ({ owner, loud: `${name}!` }))
    expect(whole).toBe('owner._id,owner.name,loud\r\nID,Ann,a!\r\n,,b!\r\n')
    const made = await file(({ owner }: Expanded) => ({ owner: owner && { by: owner.name } }))
    expect(made).toBe('owner\r\n"{""by"":""Ann""}"\r\n\r\n')
  })

  it('of no records is the header alone', async () => {
    const { get } = opened()
    expect((await get(CSV, '?select=name')).text).toBe('_id,name\r\n')
    expect((await get(NDJSON)).text).toBe('')
  })
})

describe('a list as a file', () => {
  it('has every record of the list, in its order, over many parts', async () => {
    const { app, rows, get } = opened({ orderBy: '-size' })
    // Many are equal, some have none: the parts meet within them.
    const values = Array.from({ length: 2500 }, (_, at) => ({
      name: `n${at}`,
      size: at % 7 || null,
    }))
    for (const one of values) await rows.insert(one)
    const whole = await app.store.collection(Row).find({}, { sort: ['-size', '_id'] })
    const found = linesOf((await get(NDJSON, '?select=name')).text)
    expect(found).toEqual(whole.map(({ _id, name }) => ({ _id, name })))
    const some = linesOf((await get(NDJSON, '?s=N1&size=3&sort=name')).text)
    expect(some.length).toBeGreaterThan(50)
    expect(some.map(({ name }) => name)).toEqual([...some.map(({ name }) => name)].sort())
    expect(some.every(({ name, size }) => name.includes('n1') && size === 3)).toBe(true)
  })

  it('has every record once in an order by what is not shown', async () => {
    const onGet = () => ({ select: '-place -size' })
    const { rows, get } = opened({ orderBy: ['-size', 'place.x'], onGet })
    for (let at = 0; at < 250; at++) await rows.insert({ name: `n${at}`, place: { x: at % 7 } })
    const found = linesOf((await get(NDJSON)).text)
    expect(new Set(found.map(({ name }) => name)).size).toBe(250)
    expect(found).toHaveLength(250)
    expect(Object.keys(found[0])).toEqual(['_id', 'name'])
  })

  it('is answered to QUERY too, with `or`', async () => {
    const { rows, send } = opened()
    for (const name of ['a', 'b', 'c']) await rows.insert({ name })
    const json = { filter: { or: [{ name: 'a' }, { name: 'c' }] }, select: ['name'], sort: '-name' }
    const { text, headers } = await send('QUERY', '/rows', { json, headers: { accept: NDJSON } })
    expect(linesOf(text).map(({ name }) => name)).toEqual(['c', 'a'])
    expect(headers.get('content-type')).toBe(NDJSON)
  })

  it('shows what the reader may see: scope, `fieldsFor`, hidden fields', async () => {
    const { rows, get } = opened({ scope: () => ({ size: 1 }), fieldsFor: () => ['name', 'size'] })
    const { _id } = await rows.insert({ name: 'mine', size: 1, secret: 's', tags: ['t'] })
    await rows.insert({ name: 'theirs', size: 2 })
    expect((await get(CSV)).text).toBe(`_id,name,size\r\n${_id},mine,1\r\n`)
    expect((await get(CSV, '?select=tags')).body.error).toBe("Field 'tags' cannot be selected.")
  })

  it('is a 413 when the list has more records than `exportLimit`, never a part of it', async () => {
    const { rows, get } = opened({ exportLimit: 2 })
    for (const name of ['a', 'b', 'c']) await rows.insert({ name })
    const { status, body } = await get(CSV)
    expect([status, body.error]).toEqual([
      413,
      'The list has more than 2 records. Narrow it with filters.',
    ])
    expect(linesOf((await get(NDJSON, '?name=a')).text)).toHaveLength(1)
  })

  it('is a 406 where there is no `exportLimit`', async () => {
    const { get } = opened({ exportLimit: 0 })
    for (const accept of [CSV, NDJSON]) {
      const { status, body } = await get(accept)
      expect([status, body.error]).toEqual([
        406,
        'This list is not available as a file. Use Accept: application/json.',
      ])
    }
  })

  it.each([
    'text/csv, application/json;q=0.5',
    'application/x-ndjson;q=0.9, */*;q=0.8',
    'text/event-stream, application/*;q=0.1',
  ])('is JSON where there are no others and the client takes it: %s', async (accept) => {
    const { get } = opened({ exportLimit: 0 })
    const { status, headers } = await get(accept)
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect((await get('text/csv, application/json;q=0')).status).toBe(406)
  })

  it.each(['?page=2', '?page=1&pageSize=5', '?cursor=x'])('has no pages: %s', async (url) => {
    const { get } = opened({ pagination: url.includes('cursor') ? 'cursor' : 'offset' })
    const { status, body } = await get(CSV, url)
    expect([status, body.error]).toEqual([
      400,
      'A file has the whole list: leave out page, pageSize, limit and cursor.',
    ])
  })

  test.each([
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/html, */*;q=0.8', 'application/json'],
    ['text/csv, application/json', 'application/json'],
    ['text/csv;q=0.5, application/json;q=0.4', CSV],
    ['text/csv;q=0', 'application/json'],
    ['TEXT/CSV; charset=utf-8', CSV],
    ['application/x-ndjson;q=0.9, text/csv', CSV],
    ['application/x-ndjson, text/csv', NDJSON],
    ['text/csv, */*;q=0.1', CSV],
    ['text/event-stream;q=0.5, text/csv', CSV],
    ['text/event-stream;q=0.9, application/x-ndjson;q=0.95, text/csv;q=0.8', NDJSON],
  ])('is chosen by Accept as RFC 9110 says: %s', async (accept, type) => {
    const { get } = opened()
    const { headers } = await get(accept)
    expect(headers.get('content-type')).toMatch(type)
    expect(headers.get('vary')).toBe('Accept')
  })

  it.each([CSV, NDJSON])('is read a few large records at a time: %s', async (accept) => {
    const { app, rows } = opened()
    for (let at = 0; at < 20; at++) await rows.insert({ name: 'x'.repeat(500_000) })
    const response = await app.handle(new Request('http://x/rows', { headers: { accept } }))
    const lengths: number[] = []
    for await (const chunk of response.body ?? []) lengths.push(chunk.length)
    expect(lengths.reduce((all, one) => all + one)).toBeGreaterThan(10_000_000)
    expect(Math.max(...lengths)).toBeLessThan(2_000_000)
  })

  it('is read no further when its client has gone', async () => {
    const { app, rows } = opened()
    for (let at = 0; at < 2000; at++) await rows.insert({ name: `n${at}` })
    const request = new Request('http://x/rows', { headers: { accept: NDJSON } })
    const { body } = await app.handle(request)
    const reader = body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(await reader?.closed).toBeUndefined()
  })

  it('is not cut when it takes longer than a request may', async () => {
    const clock = standingClock()
    const { app, rows } = opened({}, { requestTimeoutMs: 60_000 })
    for (let at = 0; at < 1500; at++) await rows.insert({ name: `n${at}` })
    const request = new Request('http://x/rows', { headers: { accept: NDJSON } })
    const { body } = await app.handle(request)
    const decoder = new TextDecoder()
    let text = ''
    for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
      if (text === '') clock.later(61_000)
      text += decoder.decode(part, { stream: true })
    }
    expect(linesOf(text)).toHaveLength(1500)
  })

  it('that breaks off is logged with its cause', async () => {
    const Odd = defineModel('OddRow', {
      fields: { name: z.string() },
      output: (record) => {
        if (record.name === 'n150') throw new Error('no room for n150')
        return record
      },
    })
    const { app, log } = service()
    app.mount('/odd', createRouter({ model: Odd, middlewares: [], exportLimit: 1000 }))
    const rows = app.store.collection(Odd)
    for (let at = 0; at < 200; at++) await rows.insert({ name: `n${at}` })
    const { status, body } = await app.handle(
      new Request('http://x/odd', { headers: { accept: NDJSON } }),
    )
    expect(status).toBe(200)
    await expect(new Response(body).text()).rejects.toThrow('no room')
    const [line, ...more] = log.lines.filter(({ level }) => level === 'error')
    expect(line).toMatchObject({ message: 'request failed', details: { path: '/odd' } })
    expect([String(line?.details.error), more]).toEqual([expect.stringContaining('no room'), []])
  })

  it('goes by HEAD without its records', async () => {
    const { send } = opened()
    const { status, text, headers } = await send('HEAD', '/rows', { headers: { accept: CSV } })
    expect([status, text, headers.get('content-type')]).toEqual([
      200,
      '',
      'text/csv; charset=utf-8; header=present',
    ])
  })
})
