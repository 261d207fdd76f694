import { describe, expect, it } from 'vitest'
import { LIST_PARAMETERS } from '../../../src/records/list/parameters.ts'
import { open } from '../lists/shop.ts'
import type { Answer } from '../service.ts'

const ITEMS = ['ant', 'bee', 'cat', 'dog', 'eel'].map((name, size) => ({ name, size }))

/** What a URL and a QUERY body say alike: the name of the parameter, and both ways to say it. */
const ALIKE: readonly (readonly [name: string, url: string, body: object])[] = [
  ['search', '?search=e', { search: 'e' }],
  ['search', '?s=e', { search: 'e' }],
  ['search', '?s=', { search: '' }],
  ['sort', '?sort=-size', { sort: '-size' }],
  ['sort', '?sort=nope', { sort: 'nope' }],
  ['page', '?page=2&pageSize=2', { page: 2, pageSize: 2 }],
  ['page', '?page=9007199254740991', { page: 9007199254740991 }],
  ['pageSize', '?page=1&pageSize=1000', { page: 1, pageSize: 1000 }],
  ['cursor', '?cursor=x', { cursor: 'x' }],
  ['select', '?select=size', { select: ['size'] }],
  ['select', '?select=name,secret', { select: ['name', 'secret'] }],
  ['expand', '?expand=maker', { expand: ['maker'] }],
]

/** What the client gets, without what differs by chance. */
function told({ status, body }: Answer): unknown {
  return [status, { ...body, requestId: undefined }]
}

describe('a list parameter that a URL and a QUERY body have', () => {
  for (const pagination of ['offset', 'cursor'] as const) {
    it.each(ALIKE)(
      `asks for the same list both ways, with pages by ${pagination}: %s %s`,
      async (_, url, body) => {
        const shop = await open({ search: ['name'], query: ['name', 'size'], pagination }, ITEMS)
        expect(told(await shop.ask(body))).toEqual(told(await shop.list(url.slice(1))))
      },
    )
  }

  it('is among those above', () => {
    const shared = LIST_PARAMETERS.flatMap(({ name, key }) => (name && key ? [name] : []))
    expect(shared.filter((name) => !ALIKE.some(([tested]) => tested === name))).toEqual([])
  })
})
