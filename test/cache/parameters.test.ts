import { describe, expect, it } from 'vitest'
import { type BookOptions, library } from './library.ts'

/** Asks for `path` twice as often as needed to be told from the cache, then for each of `others`. */
async function told(options: BookOptions, path: string, others: readonly string[]) {
  const made = await library(options)
  const at = (parameters: string) => path.replace(':id', String(made.book._id)) + parameters
  await made.get(at(''))
  expect(await made.xCache(at(''))).toBe('HIT')
  const { reads } = made.store
  const answers = []
  for (const parameters of others) answers.push(await made.get(at(parameters)))
  return {
    ...made,
    answers,
    states: answers.map(({ headers }) => headers.get('x-cache')),
    reads: made.store.reads - reads,
    first: await made.get(at('')),
  }
}

const UNLISTED = [
  '?x=1',
  '?x=2&y=3',
  '?x=1&x=2',
  '?utm_source=a',
  '?code=1',
  '?Page=1',
  '?a.b=1',
  '?=1',
  '?__proto__=1',
]

describe('parameters that no list reads', () => {
  it('share the answer without them', async () => {
    const { states, reads, answers, first } = await told({}, '/books', UNLISTED)
    expect(states).toEqual(UNLISTED.map(() => 'HIT'))
    expect(reads).toBe(0)
    for (const { text } of answers) expect(text).toBe(first.text)
  })

  it('fill no cache: it holds as many answers as before', async () => {
    const { get, cache } = await library()
    let sets = 0
    const { set } = cache
    cache.set = (...args) => {
      sets += 1
      return set.apply(cache, args)
    }
    await get('/books')
    const before = sets
    for (let n = 0; n < 50; n += 1) await get(`/books?x=${n}`)
    expect(sets).toBe(before)
  })

  it('are none of a record, whatever their names, nor of a QUERY', async () => {
    const parameters = [...UNLISTED, '?page=1', '?title=x', '?a[b]=1', '?sort=-title']
    const { states } = await told({}, '/books/:id', parameters)
    expect(states).toEqual(parameters.map(() => 'HIT'))
    const { send } = await library()
    const ask = (path: string) => send('QUERY', path, { json: { filter: { price: 10 } } })
    await ask('/books')
    for (const each of parameters) {
      const { headers, text } = await ask(`/books${each}`)
      expect([headers.get('x-cache'), text]).toEqual(['HIT', (await ask('/books')).text])
    }
  })

  it('with a bracket are refused, also when the answer without them is kept', async () => {
    const { answers } = await told({}, '/books', [
      '?x[$ne]=1',
      '?title[a]=1',
      '?s[]=a',
      '?sort[]=title',
    ])
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400])
  })

  it('count where onGet sees the request', async () => {
    const onGet: BookOptions['onGet'] = ({ query }) =>
      query.with === 'author' ? { populate: 'author' } : {}
    for (const path of ['/books', '/books/:id']) {
      const { states, answers } = await told({ onGet }, path, [
        '?with=author',
        '?with=author',
        '?with=x',
      ])
      expect(states).toEqual(['MISS', 'HIT', 'MISS'])
      expect(answers[0]?.text).toContain('Ann Leckie')
      expect(answers[2]?.text).not.toContain('Ann Leckie')
    }
  })

  it('count where vary or scope reads them', async () => {
    const vary = ({ query }: { query: Readonly<Record<string, unknown>> }) => String(query.lang)
    const varied = await told({ cache: { vary } }, '/books', ['?lang=nl', '?lang=nl', '?lang=fr'])
    expect(varied.states).toEqual(['MISS', 'HIT', 'MISS'])
    const scope: BookOptions['scope'] = ({ query }) =>
      query.all === 'no' ? { price: 99 } : undefined
    const scoped = await told({ scope }, '/books', ['?all=no', '?all=no', '?all=yes'])
    expect(scoped.states).toEqual(['MISS', 'HIT', 'HIT'])
    expect(scoped.answers.map(({ records }) => records.length)).toEqual([0, 0, 1])
  })
})

describe('parameters that lists read', () => {
  const READ = [
    '?page=1',
    '?page=1&pageSize=1',
    '?sort=title',
    '?s=a',
    '?search=j',
    '?rangeField=price&range=1-2',
    '?compareField=price&compareOperator=gt&compareValue=1',
    '?compareField=price&compareOperator=gt&compareValue=2',
    '?title=x',
    '?price=10',
    '?price=10&price=11',
  ]

  it.each([{}, { legacyMode: true }])('keep answers of their own, with %j', async (options) => {
    const { states } = await told(options, '/books', [...READ, ...READ])
    expect(states).toEqual([...READ.map(() => 'MISS'), ...READ.map(() => 'HIT')])
  })
})
