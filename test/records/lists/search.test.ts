import { describe, expect, test } from 'vitest'
import { createRouter } from '../../../src/index.ts'
import { service } from '../service.ts'
import { expectRefused, Item, type ItemOptions, Maker, names, open, type Shop } from './shop.ts'

const SEARCH = ['name', 'note', 'tags', 'place.city', 'stops.city'] as const

const ITEMS = [
  { name: 'Alpha', note: 'first', kind: 'cup', size: 1 },
  { name: 'beta', note: null, kind: 'jug', size: 2, tags: ['red', 'ALPHABET'] },
  { name: 'Gamma', place: { city: 'Alpharetta' }, size: 3 },
  {
    name: 'Élan',
    stops: [
      { km: 1, city: 'Rome' },
      { km: 2, city: 'ALPhen' },
    ],
  },
  { name: 'zz', secret: 'alpha-hidden', vault: { pin: 'alpha', label: 'alpha' } },
] as const

const opened = (options: ItemOptions = {}) =>
  open({ search: SEARCH, query: ['kind', 'size'], ...options }, ITEMS as never)

describe('4.1 GET list parameters, s or search', () => {
  test('a literal, case-insensitive match, OR across the search fields', async () => {
    const { list, ask } = await opened()
    for (const term of ['alph', 'ALPH', 'aLpH']) {
      const found = ['Alpha', 'beta', 'Gamma', 'Élan']
      expect(names(await list({ s: term }))).toEqual(found)
      expect(names(await list({ search: term }))).toEqual(found)
      expect(names(await ask({ search: term }))).toEqual(found)
    }
  })

  test('ANDed with the filters', async () => {
    const { list, ask } = await opened()
    expect(names(await list('s=alph&kind=jug'))).toEqual(['beta'])
    expect(names(await list('s=alph&rangeField=size&range=2-3'))).toEqual(['beta', 'Gamma'])
    expect(names(await ask({ search: 'alph', filter: { size: { lt: 2 } } }))).toEqual(['Alpha'])
  })

  test.each([
    ['é finds É', 'élan', ['Élan']],
    ['not accent-insensitive', 'elan', []],
    ['anywhere in the value', 'amm', ['Gamma']],
    ['in arrays of strings', 'red', ['beta']],
    ['in nested objects', 'retta', ['Gamma']],
    ['in lists of objects', 'rom', ['Élan']],
    ['not across fields', 'alphafirst', []],
    ['not trimmed', ' alpha', []],
    ['not trimmed at the end', 'beta ', []],
  ])('answers: %s', async (_title, s, found) => {
    const { list } = await opened()
    expect(names(await list({ s }))).toEqual(found)
  })

  test('answers: s wins over search when present, an empty one too', async () => {
    const { list } = await opened()
    expect(names(await list('s=beta&search=gamma'))).toEqual(['beta'])
    expect(names(await list('search=gamma&s=beta'))).toEqual(['beta'])
    expect(names(await list('s=&search=gamma'))).toHaveLength(5)
  })

  test('answers: empty means none', async () => {
    const { list, ask } = await opened()
    expect(names(await list('s='))).toHaveLength(5)
    expect(names(await list('search='))).toHaveLength(5)
    expect(names(await ask({ search: '' }))).toHaveLength(5)
    expect(names(await ask({ search: null }))).toHaveLength(5)
  })

  test('answers: a repeated term is a 400, in a QUERY one that is no string', async () => {
    const shop = await opened()
    const error = 'Search term must be a string.'
    expectRefused(shop, await shop.list('s=a&s=b'), error)
    expectRefused(shop, await shop.list('search=a&search=b'), error)
    for (const search of [1, true, ['a'], { $ne: 'a' }, [], {}]) {
      expectRefused(shop, await shop.ask({ search }), error)
    }
  })

  test('security, searches: what is hidden, or in no search field, is not searched', async () => {
    const { list, ask } = await open({ search: ['name'] }, [
      { name: 'a', note: 'marker', secret: 'marker', vault: { pin: 'marker', label: 'marker' } },
      { name: 'b', tags: ['marker'], any: 'marker' },
    ])
    expect(names(await list('s=marker'))).toEqual([])
    expect(names(await ask({ search: 'marker' }))).toEqual([])
    expect((await list('s=marker&page=1')).body.pagination).toMatchObject({ totalRecords: 0 })
  })
})

describe('4.1 GET list parameters, rule 4: maxSearchLength', () => {
  test('8 Limits: a term longer than 128 is a 400; answers: in UTF-16 units', async () => {
    const shop = await opened()
    const error = 'Search term exceeds 128 characters.'
    expect(names(await shop.list({ s: 'x'.repeat(128) }))).toEqual([])
    expect(names(await shop.list({ s: '😀'.repeat(64) }))).toEqual([])
    expect(names(await shop.ask({ search: 'é'.repeat(128) }))).toEqual([])
    shop.store.taken()
    expectRefused(shop, await shop.list({ s: 'x'.repeat(129) }), error)
    expectRefused(shop, await shop.list({ search: `${'😀'.repeat(64)}x` }), error)
    expectRefused(shop, await shop.ask({ search: 'x'.repeat(129) }), error)
  })

  test('2.6 maxSearchLength: the limit can be set', async () => {
    const shop = await opened({ maxSearchLength: 3 })
    expect(names(await shop.list('s=bet'))).toEqual(['beta'])
    shop.store.taken()
    expectRefused(shop, await shop.list('s=beta'), 'Search term exceeds 3 characters.')
  })

  test('answers: without search fields the term is checked, then ignored', async () => {
    const shop = await open({}, ITEMS as never)
    expect(names(await shop.list('s=alpha'))).toHaveLength(5)
    shop.store.taken()
    const error = 'Search term exceeds 128 characters.'
    expectRefused(shop, await shop.list({ s: 'x'.repeat(129) }), error)
    expectRefused(shop, await shop.list('s=a&s=b'), 'Search term must be a string.')
  })
})

describe('4.1 GET list parameters, rule 4: metacharacters are literal', () => {
  const SPECIAL =
    '% _ \\ ^ $ . * + ? ( ) [ ] { } | / \' " ` - : ; < > = ~ # @ ! & , \u0000 \t \n é É ß Σ'

  test.each(SPECIAL.split(' '))(
    's=%j finds the record that holds it and no other',
    async (special) => {
      const { list, ask } = await open({ search: ['name'] }, [
        { name: `before${special}after` },
        { name: 'beforexafter' },
        { name: 'beforeafter' },
      ])
      for (const s of [special, `e${special}a`, `before${special}after`]) {
        expect(names(await list({ s }))).toEqual([`before${special}after`])
        expect(names(await ask({ search: s }))).toEqual([`before${special}after`])
      }
    },
  )

  test('security, literal searches: of 400 records each is found by its own text alone', async () => {
    const alphabet = [...SPECIAL.replaceAll(' ', ''), 'a', 'A', 'b', '😀', '\uffff', 'ı', 'İ', 'K']
    let state = 7
    const next = (end: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % end
    }
    const texts = Array.from({ length: 400 }, () =>
      Array.from({ length: 1 + next(6) }, () => alphabet[next(alphabet.length)]).join(''),
    )
    const { list } = await open(
      { search: ['name'], maxLimit: 1000 },
      texts.map((name) => ({ name })),
    )
    const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    for (const s of texts) {
      const pattern = new RegExp(literal(s), 'iu')
      expect(names(await list({ s }))).toEqual(texts.filter((text) => pattern.test(text)))
    }
  })

  test('security, odd values: a lone surrogate finds nothing, and nothing breaks', async () => {
    const { ask } = await open({ search: ['name'] }, [{ name: '\ufffd' }, { name: '😀' }])
    expect(names(await ask({ search: '\ud83d' }))).toEqual([])
    expect(names(await ask({ search: 'a\udc00' }))).toEqual([])
  })
})

describe('2.6 allowRawRegex: search terms run as regular expressions', () => {
  test.each([
    ['^alpha$', ['Alpha']],
    ['^(beta|gamma)$', ['beta', 'Gamma']],
    ['bet.', ['beta']],
    ['^É', ['Élan']],
    ['A{2}', []],
  ])('s=%s finds %j', async (s, found) => {
    const { list, ask } = await opened({ allowRawRegex: true })
    expect(names(await list({ s }))).toEqual(found)
    expect(names(await ask({ search: s }))).toEqual(found)
  })

  test('a NUL ends neither the pattern nor the text', async () => {
    const { list } = await open({ search: ['name'], allowRawRegex: true }, [
      { name: 'a\0b' },
      { name: 'a' },
    ])
    expect(names(await list({ s: '\0' }))).toEqual(['a\0b'])
    expect(names(await list({ s: 'b$' }))).toEqual(['a\0b'])
    expect(names(await list({ s: 'a$' }))).toEqual(['a'])
  })

  test.each(['(', '[', '*', 'a{2,1}', '(?<', '\\'])(
    'security, patterns: the malformed pattern %j is a 400 that tells nothing of the store',
    async (s) => {
      const { list, ask } = await opened({ allowRawRegex: true })
      for (const answer of [await list({ s }), await ask({ search: s })]) {
        expect(answer.status).toBe(400)
        expect(answer.body.error).toBe('Search term is not a valid regular expression.')
      }
    },
  )

  test.each(['(a+)+$', '(.*a){30}', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$'])(
    'security, patterns: the pattern %s does not block the loop',
    async (s) => {
      const { list } = await open({ search: ['name'], allowRawRegex: true, maxTimeMS: 2000 }, [
        { name: `${'a'.repeat(30_000)}!` },
      ])
      const start = performance.now()
      const { status } = await list({ s })
      expect(performance.now() - start).toBeLessThan(10_000)
      expect(status).toBe(200)
    },
  )
})

describe('4.1 GET list parameters, rule 5: search through references', () => {
  const RELATED = ['name', 'maker.name', 'maker.aliases', 'maker.home.city', 'makers.name'] as const

  /** Three makers, and items that refer to them. */
  async function related(options: ItemOptions = {}): Promise<Shop> {
    const shop = await open({ search: RELATED, query: ['kind'], ...options })
    const potter = await shop.make({
      name: 'Potter',
      aliases: ['Clay', 'ÉMILE'],
      password: 'opensesame',
      home: { city: 'Delft', code: 'hiddencode' },
    })
    const smith = await shop.make({ name: 'Smith' })
    const ids = [String(potter._id), String(smith._id)] as const
    await shop.insert({ name: 'one', maker: ids[0], kind: 'cup' })
    await shop.insert({ name: 'two', maker: ids[1] })
    await shop.insert({ name: 'three', makers: [ids[1], ids[0]] })
    await shop.insert({ name: 'potter-like', kind: 'jug' })
    await shop.insert({ name: 'five', maker: 'f'.repeat(24) })
    shop.store.taken()
    return shop
  }

  test.each([
    ['potter', ['one', 'three', 'potter-like'], 'a name behind one id and behind a list of ids'],
    ['smith', ['two', 'three'], 'another'],
    ['émile', ['one'], 'a list of strings over there'],
    ['delf', ['one'], 'the rest of the path on the referenced model'],
    ['two', ['two'], 'a relation that matches nothing adds nothing'],
    ['nowhere', [], 'when no clause matches the result is empty'],
  ])('s=%s finds %j: %s', async (s, found) => {
    const { list, ask } = await related()
    expect(names(await list({ s }))).toEqual(found)
    expect(names(await ask({ search: s }))).toEqual(found)
  })

  test('ANDed with filters, counted and paged like any search', async () => {
    const { list } = await related()
    expect(names(await list('s=potter&kind=cup'))).toEqual(['one'])
    const page = await list('s=potter&page=2&pageSize=2')
    expect(names(page)).toEqual(['potter-like'])
    expect(page.body.pagination).toMatchObject({ totalRecords: 3, totalPages: 2 })
  })

  test('if a relational clause matches nothing the result is empty, not everything', async () => {
    const { list } = await related({ search: ['maker.name'] })
    expect(names(await list('s=nobody'))).toEqual([])
    expect((await list('s=nobody&page=1')).body.pagination).toMatchObject({ totalRecords: 0 })
  })

  test('security, searches through references: hidden fields over there are a start-up error, and are not reached', async () => {
    for (const path of ['maker.password', 'maker.home.code', 'maker.home'] as const) {
      const { app } = service()
      app.mount('/items', createRouter({ model: Item, search: [path], allowedFields: [] }))
      await expect(app.ready()).rejects.toThrow(
        `Router '/items': 'search' names '${path}', which is`,
      )
    }
    const { list } = await related()
    for (const s of ['opensesame', 'hiddencode']) expect(names(await list({ s }))).toEqual([])
  })

  test('security, searches through references: ids are no text: searching through `maker._id` is a start-up error', async () => {
    const { app } = service()
    app.mount('/items', createRouter({ model: Item, search: ['maker._id'], allowedFields: [] }))
    await expect(app.ready()).rejects.toThrow("'search' names 'maker._id', which is not a string")
  })

  test('security, searches through references: what `fieldsFor` withholds is not reached, here or over there', async () => {
    const { list } = await related({ fieldsFor: () => ['name'] })
    expect(names(await list('s=smith'))).toEqual([])
    const { app, send } = service()
    const search = ['boss.name', 'boss.aliases'] as const
    const rules = { search, fieldsFor: () => ['name', 'boss'] as const, allowedFields: [] }
    app.mount('/makers', createRouter({ model: Maker, ...rules }))
    const makers = app.store.collection(Maker)
    const { _id } = await makers.insert({ name: 'Potter', aliases: ['Clay'] })
    await makers.insert({ name: 'Smith', boss: _id })
    expect(names(await send('GET', '/makers?s=potter'))).toEqual(['Smith'])
    expect(names(await send('GET', '/makers?s=clay'))).toEqual([])
  })

  test('a dotted field whose first part is no reference is dropped, with a start-up warning', async () => {
    const shop = await open({ search: ['name', 'nope.name', 'size.name'] as never }, [
      { name: 'a' },
    ])
    expect(names(await shop.list('s=a'))).toEqual(['a'])
    expect(shop.log.lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        message:
          "Router '/items': 'search' ignores 'nope.name', because 'nope' is not a reference of 'ShopItem'.",
      }),
      expect.objectContaining({
        level: 'warn',
        message:
          "Router '/items': 'search' ignores 'size.name', because 'size' is not a reference of 'ShopItem'.",
      }),
    ])
  })

  test('8 Limits: at most maxRelationMatches ids are pulled; answers: hitting it logs a warning', async () => {
    const shop = await open({ search: ['maker.name'], maxRelationMatches: 3 })
    const makers = []
    for (let at = 0; at < 5; at += 1) makers.push(await shop.make({ name: `same ${at}` }))
    for (const { _id } of makers) await shop.insert({ name: String(_id), maker: String(_id) })
    shop.store.taken()
    const found = names(await shop.list('s=same'))
    expect(found).toHaveLength(3)
    const [pulled] = shop.store.calls
    expect(pulled).toMatchObject({ name: 'makers.find', argument: { limit: 3 } })
    expect(shop.log.lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: expect.stringContaining("'maker' reached maxRelationMatches (3)"),
      }),
    ])
    expect(shop.log.text).not.toContain('same')
    await shop.list('s=same 1')
    expect(shop.log.lines).toHaveLength(1)
  })

  test('8 Limits: maxRelationMatches is 1000 by default', async () => {
    const { list, store } = await related()
    await list('s=potter')
    const limits = store.calls.filter(({ name }) => name === 'makers.find')
    expect(limits.map(({ argument }) => argument.limit)).toEqual([1000, 1000, 1000, 1000])
  })

  test('each relational field asks the referenced model once, whatever the number of records', async () => {
    const { list, store } = await related()
    await list('s=potter')
    expect(store.taken()).toEqual([
      'makers.find',
      'makers.find',
      'makers.find',
      'makers.find',
      'items.findJson',
    ])
  })

  test('2.6 allowRawRegex: patterns reach through references', async () => {
    const { list } = await related({ allowRawRegex: true })
    expect(names(await list({ s: '^pot+er$' }))).toEqual(['one', 'three'])
    expect((await list({ s: '(' })).body.error).toBe(
      'Search term is not a valid regular expression.',
    )
  })

  test('the referenced model needs no router of its own', async () => {
    const { list, send } = await related()
    expect(names(await list('s=smith'))).toEqual(['two', 'three'])
    expect((await send('GET', '/makers')).status).toBe(404)
  })
})
