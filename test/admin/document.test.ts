import { describe, expect, it } from 'vitest'
import { type Document, type Resource, shapeOf } from '../../packages/admin/src/page/document.ts'
import { nameOf, titleOf } from '../../packages/admin/src/page/fields.ts'
import {
  changesOf,
  sent,
  UNREADABLE,
  valuesOf,
  wrong,
} from '../../packages/admin/src/page/form-values.ts'
import { Rights } from '../../packages/admin/src/page/rights.ts'
import { conditionsOf, type Operator, operatorsFor } from '../../packages/admin/src/page/rules.ts'
import { depot, library } from './apps.ts'
import { club } from './club.ts'

async function shape(taste = {}) {
  const app = await library(false)
  const response = await app.handle(new Request('http://library/docs/openapi.json'))
  return shapeOf((await response.json()) as Document, taste)
}

async function books(taste = {}): Promise<Resource> {
  const found = (await shape(taste)).resources.find(({ name }) => name === 'books')
  if (!found) throw new Error('there are no books')
  return found
}

describe('The admin page reads from the document', () => {
  it('which resources there are, with the users last, and where batches go', async () => {
    const { resources, accounts, batch } = await shape()
    expect(resources.map(({ name }) => name)).toEqual(['books', 'authors', 'auth.users'])
    expect([accounts?.mount, batch]).toEqual(['/auth', '/batch'])
    expect(Object.keys(accounts?.routes ?? {})).toEqual(
      expect.arrayContaining(['login', 'createTotp', 'listKeys', 'modifyRoles', 'logoutAll']),
    )
  })

  it('what each field is', async () => {
    const { writable } = await books()
    const kinds = writable.create.map(({ name, kind }) => `${name} ${kind}`)
    expect(kinds).toEqual([
      ...['title text', 'author reference', 'status enum', 'pages integer', 'price number'],
      ...['isLent boolean', 'summary long', 'tags list', 'chapters list', 'place object'],
      ...['extra json', 'cover file', 'isbn text'],
    ])
    const byName = new Map(writable.update.map((field) => [field.name, field]))
    expect(byName.get('title')).toMatchObject({ isRequired: true, isNullable: false })
    expect(byName.get('pages')).toMatchObject({ isNullable: true, min: 1, max: 5000 })
    expect(byName.get('author')).toMatchObject({ model: 'Author' })
    expect(byName.get('status')?.transitions).toMatchObject({ draft: ['review'] })
    expect(byName.get('chapters')?.item?.fields?.map(({ name }) => name)).toEqual(['title', 'page'])
    expect(byName.get('cover')?.accept).toContain('image/png')
  })

  it('what lists can be asked for', async () => {
    const found = await books()
    expect(found).toMatchObject({ isSearchable: true, isByCursor: false, hasCsv: true })
    expect(found.expandable).toEqual(['author'])
    expect([...found.sortable]).toEqual(['title', 'pages', 'price', 'createdAt'])
    expect(found.groups).toEqual({
      by: ['status', 'author', 'createdAt:month'],
      of: ['pages', 'price'],
    })
    const pages = found.filters.find(({ field }) => field.name === 'pages')
    expect(pages && operatorsFor(pages.field, pages.operators)).toContain('gte')
  })

  it('an app that is paged by cursor', async () => {
    const app = await depot(0)
    const path = 'http://depot/api/back/office/openapi.json'
    const document = (await (await app.handle(new Request(path))).json()) as Document
    const [parts] = shapeOf(document, {}).resources
    expect(parts).toMatchObject({ name: 'parts', isByCursor: true, isSearchable: false })
  })

  it('which providers there are, and where they bring people back to', async () => {
    const { app } = await club('http://localhost:1', 'http://localhost:2')
    const path = 'http://localhost:1/admin/openapi.json'
    const document = (await (await app.handle(new Request(path))).json()) as Document
    const { routes = {} } = shapeOf(document, {}).accounts ?? {}
    const choices = (route: string) =>
      routes[route]?.operation.parameters?.map(({ name, schema }) => [name, schema?.enum])
    expect(choices('beginOidc')).toEqual([
      ['name', ['company']],
      ['returnTo', ['/admin']],
      ['challenge', undefined],
    ])
    expect(choices('social')).toEqual([['provider', ['google', 'demo', 'own']]])
  })

  it('what can be followed, and what has a history', async () => {
    const { resources } = await shape()
    const [found, authors] = resources
    expect([found?.isLive, authors?.isLive]).toEqual([true, false])
    expect(Object.keys(found?.actions ?? {})).toEqual(
      expect.arrayContaining(['history', 'restore']),
    )
    expect(authors?.actions.history).toBeUndefined()
  })

  it('what the developer wants otherwise', async () => {
    const found = await books({
      books: { title: 'Stock', list: ['price'], form: ['price', 'title'] },
    })
    expect(found).toMatchObject({ title: 'Stock', columns: ['price'] })
    expect(found.writable.create.map(({ name }) => name)).toEqual(['price', 'title'])
  })
})

describe('What a caller may do', () => {
  it('follows from the roles that routes demand', async () => {
    const { resources } = await shape()
    const rights = new Rights()
    const may = () =>
      resources.map((one) =>
        (['list', 'create', 'delete'] as const).filter((action) => rights.may(one, action)),
      )
    expect(may()).toEqual([[], [], []])
    rights.identify({ role: 'reader' })
    expect(may()).toEqual([['list'], ['list'], []])
    rights.identify({ role: ['editor'] })
    expect(may()).toEqual([['list', 'create'], ['list', 'create'], []])
    rights.identify({ role: 'admin' })
    expect(may()).toEqual([['list', 'create', 'delete'], ['list', 'create', 'delete'], ['list']])
  })

  it('shrinks by what the app refuses, until someone else signs in', async () => {
    const resource = await books()
    const rights = new Rights()
    rights.identify({ role: 'editor' })
    rights.note(resource, 'update', 409)
    expect(rights.may(resource, 'update')).toBe(true)
    rights.note(resource, 'update', 403)
    expect(rights.may(resource, 'update')).toBe(false)
    rights.identify({ role: 'admin' })
    expect(rights.may(resource, 'update')).toBe(true)
  })
})

describe('Rules of a list', () => {
  it('become the filter of a QUERY', async () => {
    const resource = await books()
    const rules = [
      { field: 'pages', operator: 'gte', value: '100' },
      { field: 'pages', operator: 'lt', value: '200' },
      { field: 'isLent', operator: 'eq', value: 'true' },
      { field: 'title', operator: 'eq', value: '' },
    ] as const
    expect(conditionsOf(rules, false, resource)).toEqual({
      pages: { gte: 100, lt: 200 },
      isLent: true,
    })
    expect(conditionsOf(rules, true, resource)).toEqual({
      or: [{ pages: { gte: 100 } }, { pages: { lt: 200 } }, { isLent: true }],
    })
    const twice = (operator: Operator, ...values: string[]) =>
      conditionsOf(
        values.map((value) => ({ field: 'price', operator, value })),
        false,
        resource,
      )
    expect(twice('ne', '1', '2', '3')).toEqual({ price: { ne: 1, nin: [2, 3] } })
    expect(twice('eq', '1', '2')).toEqual({ price: { eq: 1, in: [2] } })
    expect([twice('gte', '1', '9', '5'), twice('lt', '9', '1', '5')]).toEqual([
      { price: { gte: 9 } },
      { price: { lt: 1 } },
    ])
    expect(conditionsOf([], true, resource)).toBeUndefined()
    const isEmpty = { field: 'price', operator: 'empty', value: '' } as const
    expect(conditionsOf([isEmpty], false, resource)).toEqual({ price: { eq: null } })
  })
})

describe('A form', () => {
  it('sends what has changed, and null for what was emptied', async () => {
    const { writable } = await books()
    const record = { title: 'A', author: { _id: 'x', name: 'Ines' }, pages: 3, isLent: false }
    const before = valuesOf(writable.update, record)
    expect(before.author).toBe('x')
    // What has an id of its own, as Mongoose's subdocuments do, is no reference.
    const chapters = [{ _id: 'c', title: 'One', page: 1 }]
    expect(valuesOf(writable.update, { ...record, chapters }).chapters).toEqual(chapters)
    const changes = changesOf(before, { ...before, title: 'B', pages: undefined, summary: '' })
    expect(sent(changes, false)).toEqual({ title: 'B', pages: null })
  })

  it('begins with defaults, and says what is missing', async () => {
    const { writable } = await books()
    const values = valuesOf(writable.create, undefined)
    expect(values).toMatchObject({ status: 'draft', isLent: false })
    expect(sent(values, true)).toEqual({ status: 'draft', isLent: false })
    expect(wrong(writable.create, values, (name) => name)).toEqual({
      title: 'required',
      author: 'required',
    })
    const half = { title: 'x', author: '1', place: { shelf: UNREADABLE } }
    expect(wrong(writable.create, half, (name) => name)).toEqual({
      'place.room': 'required',
      'place.shelf': 'unreadable',
    })
    expect(wrong(writable.update, { pages: undefined }, (name) => name)).toEqual({})
    expect(changesOf({ place: {} }, { place: { shelf: UNREADABLE } })).toHaveProperty('place')
  })

  it('calls things by their names', () => {
    expect(['order-lines', 'feed/cities', 'isLent'].map(titleOf)).toEqual([
      'Order lines',
      'Feed cities',
      'Is lent',
    ])
    expect(nameOf({ _id: '1', code: 'x' })).toBe('x')
  })
})
