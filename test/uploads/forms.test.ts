/**
 * What a form can say beside its files: lists of objects, by index or as JSON (review N3).
 */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Fields } from '../../src/index.ts'
import { addTo, Branch } from '../../src/uploads/form-fields.ts'
import { album, BOUNDARY, fileHead, rawBody, rawHeaders, textHead } from './album.ts'
import { png } from './png.ts'

const ingredient = z.object({
  name: z.string(),
  grams: z.number().optional(),
  from: z.object({ country: z.string() }).optional(),
  notes: z.array(z.string()).optional(),
})
const Recipe = defineModel('Recipe', {
  fields: {
    title: z.string(),
    ingredients: z.array(ingredient).optional(),
    tags: z.array(z.string()).optional(),
    numbers: z.array(z.number()).optional(),
    table: z.array(z.array(z.number())).optional(),
    author: ingredient.optional(),
    prices: z.record(z.string(), z.number()).optional(),
    steps: z.record(z.string(), z.array(z.object({ text: z.string() }))).optional(),
    anything: z.unknown().optional(),
    image: z.string().optional(),
  },
})

type Parts = readonly (readonly [name: string, text: string, type?: string])[]

function kitchen() {
  const served = album()
  const router = createRouter({
    model: Recipe,
    middlewares: [],
    allowedFields: Object.keys(Recipe.fields) as never,
    upload: { fields: [{ name: 'image' }] },
  })
  served.app.mount('/recipes', router)
  const send = (parts: Parts, withImage = true) => {
    const texts = [['title', 'x'] as const, ...parts].map(([name, content, type]) => ({
      headers: `${textHead(name)}${type ? `\r\nContent-Type: ${type}` : ''}`,
      content,
    }))
    const image = withImage ? [{ headers: fileHead('image'), content: png }] : []
    const body = rawBody([...texts, ...image])
    return served.send('POST', '/recipes', { body, headers: rawHeaders })
  }
  return { ...served, send }
}

const salt = { name: 'Salt', grams: 2 }
const pepper = { name: 'Pepper' }

/** Ways to write one record, and the fields that come of it. */
const ways: Readonly<Record<string, readonly [Parts, Fields]>> = {
  'by index': [
    [
      ['ingredients[0][name]', 'Salt'],
      ['ingredients[0][grams]', '2'],
      ['ingredients[1][name]', 'Pepper'],
    ],
    { ingredients: [salt, pepper] },
  ],
  'by index in any order, with gaps': [
    [
      ['ingredients[10][name]', 'Pepper'],
      ['ingredients[9][grams]', '2'],
      ['ingredients[9][name]', 'Salt'],
    ],
    { ingredients: [salt, pepper] },
  ],
  'by an index that is huge': [
    [
      ['ingredients[99999999999999999999999999][name]', 'Pepper'],
      ['ingredients[999999999][name]', 'Salt'],
      ['ingredients[999999999][grams]', '2'],
    ],
    { ingredients: [salt, pepper] },
  ],
  'by empty brackets': [
    [
      ['ingredients[][name]', 'Salt'],
      ['ingredients[][grams]', '2'],
      ['ingredients[][name]', 'Pepper'],
    ],
    { ingredients: [salt, pepper] },
  ],
  'as JSON': [[['ingredients', JSON.stringify([salt, pepper])]], { ingredients: [salt, pepper] }],
  'as JSON that says so': [
    [['ingredients', ` ${JSON.stringify([salt, pepper])}\n`, 'application/json; charset=utf-8']],
    { ingredients: [salt, pepper] },
  ],
  'as JSON with a byte order mark': [
    [['ingredients', `\uFEFF${JSON.stringify([salt, pepper])}`, 'application/json']],
    { ingredients: [salt, pepper] },
  ],
  'as one object of JSON': [[['ingredients', JSON.stringify(salt)]], { ingredients: [salt] }],
  'as several objects of JSON': [
    [
      ['ingredients', JSON.stringify(salt)],
      ['ingredients', JSON.stringify(pepper), 'application/json'],
    ],
    { ingredients: [salt, pepper] },
  ],
  'as objects of JSON by index': [
    [
      ['ingredients[1]', JSON.stringify(pepper)],
      ['ingredients[0]', JSON.stringify(salt)],
    ],
    { ingredients: [salt, pepper] },
  ],
  'with what is inside of an object': [
    [
      ['ingredients[0][name]', 'Salt'],
      ['ingredients[0][from][country]', 'PT'],
      ['ingredients[0][notes][]', 'a'],
      ['ingredients[0][notes][]', 'b'],
      ['ingredients[1][name]', 'Pepper'],
      ['ingredients[1][notes]', 'c'],
    ],
    {
      ingredients: [
        { name: 'Salt', from: { country: 'PT' }, notes: ['a', 'b'] },
        { name: 'Pepper', notes: ['c'] },
      ],
    },
  ],
  'as an empty list': [[['ingredients', '[]']], { ingredients: [] }],
  'lists of texts': [
    [
      ['tags[1]', 'b'],
      ['tags[0]', 'a'],
    ],
    { tags: ['a', 'b'] },
  ],
  'lists of texts as JSON': [[['tags', '["a","b"]']], { tags: ['a', 'b'] }],
  'texts that look like JSON and are none': [[['tags', '[draft]']], { tags: ['[draft]'] }],
  'texts that are JSON of something else': [[['tags', '[1]']], { tags: ['[1]'] }],
  'mixed ways of one list': [
    [
      ['tags', 'a'],
      ['tags[]', 'b'],
      ['tags', 'c'],
    ],
    { tags: ['a', 'b', 'c'] },
  ],
  numbers: [
    [
      ['numbers', '[1, 2]'],
      ['table[0][0]', '1'],
      ['table[0][1]', '2'],
      ['table[1]', '[3]'],
    ],
    { numbers: [1, 2], table: [[1, 2], [3]] },
  ],
  'objects and maps as JSON': [
    [
      ['author', JSON.stringify(salt)],
      ['prices', '{"eur": 2}', 'application/json'],
      ['steps[first][0][text]', 'Stir'],
    ],
    { author: salt, prices: { eur: 2 }, steps: { first: [{ text: 'Stir' }] } },
  ],
  'anything as JSON': [[['anything', '{"a":[1]}']], { anything: { a: [1] } }],
  'anything as text': [[['anything', '5']], { anything: '5' }],
  'anything as JSON that says so': [[['anything', '5', 'application/json']], { anything: 5 }],
}

describe('a form with a file', () => {
  it.each(Object.entries(ways))('holds %s', async (_, [parts, fields]) => {
    const { send } = kitchen()
    const { status, record, text } = await send(parts)
    expect(status, text).toBe(201)
    const { title, image, _id, createdAt, updatedAt, ...rest } = record
    expect(rest).toEqual(fields)
    expect(image).toMatch(/\.png$/)
  })

  it('holds JSON as scripts send it, under the name of a file', async () => {
    const { app } = kitchen()
    const data = new FormData()
    data.append('title', 'x')
    const json = JSON.stringify([salt])
    data.append('ingredients', new Blob([json], { type: 'application/json' }))
    data.append('image', new File([png], 'a.png'))
    const made = await app.handle(
      new Request('http://localhost/recipes', { method: 'POST', body: data }),
    )
    expect([made.status, ((await made.json()) as { data: Fields }).data.ingredients]).toEqual([
      201,
      [salt],
    ])
  })

  it('holds no JSON under the name of a field of files: that is a file', async () => {
    const { app, calls } = kitchen()
    const data = new FormData()
    data.append('title', 'x')
    data.append('image', new Blob(['"x"'], { type: 'application/json' }))
    const sent = await app.handle(
      new Request('http://localhost/recipes', { method: 'POST', body: data }),
    )
    expect([sent.status, ((await sent.json()) as { error: string }).error]).toEqual([
      400,
      "Unsupported or unrecognised file type for 'image'.",
    ])
    expect(calls).toEqual([])
  })

  it('is a 400 that names the field where its JSON is broken, and stores nothing', async () => {
    const { send, calls } = kitchen()
    const said = await send([['ingredients', '[{"name":', 'application/json']])
    expect([said.status, said.body.fields]).toEqual([400, { ingredients: 'Invalid JSON.' }])
    for (const text of ['[{"name":', '{"name"}', 'Salt', '7', '"Salt"']) {
      const { status, body } = await send([['ingredients', text]])
      expect([status, Object.keys(body.fields ?? {})], text).toEqual([400, ['ingredients']])
    }
    for (const name of ['author', 'prices']) {
      const { status, body } = await send([[name, '{"a":']])
      expect([status, Object.keys(body.fields ?? {})]).toEqual([400, [name]])
    }
    expect(calls).toEqual([])
  })

  it('writes no forbidden keys, and nests no deeper than JSON may', async () => {
    const { send } = kitchen()
    const evil = '{"name":"Salt","__proto__":{"polluted":1},"$where":1,"a.b":1,"_id":"x"}'
    const { record } = await send([
      ['ingredients', `[${evil}]`],
      ['anything', evil, 'application/json'],
      ['prices[__proto__]', '1'],
      ['prices[eur]', '1'],
    ])
    expect(record.ingredients).toEqual([{ name: 'Salt' }])
    expect(record.anything).toEqual({ name: 'Salt' })
    expect(record.prices).toEqual({ eur: 1 })
    expect(({} as Fields).polluted).toBeUndefined()
    for (const text of ['['.repeat(100_000) + ']'.repeat(100_000), '[[[[[[[[[1]]]]]]]]]']) {
      const deep = await send([['anything', text]])
      expect([deep.status, deep.body.error]).toEqual([
        400,
        `Field 'anything' is nested too deeply.`,
      ])
    }
  })

  it('means something whatever its names are, in no time', async () => {
    const { app } = kitchen()
    const key = fc.constantFrom(
      '',
      '0',
      '1',
      '007',
      '4294967295',
      '9'.repeat(400),
      'name',
      '__proto__',
    )
    const names = fc
      .tuple(fc.constantFrom(...Object.keys(Recipe.fields)), fc.array(key, { maxLength: 4 }))
      .map(([field, keys]) => `${field}${keys.map((one) => `[${one}]`).join('')}`)
    const texts = fc.constantFrom('x', '1', '[]', '{}', '[{"name":"a"}]', 'null', '[', '')
    const parts = fc.array(fc.tuple(names, texts, fc.boolean()), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(parts, async (sent) => {
        const body = rawBody(
          sent.map(([name, content, isJson]) => ({
            headers: `${textHead(name)}${isJson ? '\r\nContent-Type: application/json' : ''}`,
            content,
          })),
        )
        const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
        const request = new Request('http://localhost/recipes', { method: 'POST', body, headers })
        expect([201, 400]).toContain((await app.handle(request)).status)
      }),
      { numRuns: 500 },
    )
  })
})

it('indexes take no more room than there are parts', () => {
  const root = new Branch()
  for (let index = 0; index < 1000; index += 1) addTo(root, `a[${index * 1e12}][b]`, 'x')
  const list = root.named.get('a')
  expect(list && 'named' in list && list.named.size).toBe(1000)
})
