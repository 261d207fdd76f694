import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { health } from '../../src/health/index.ts'
import { type App, createRouter, defineModel } from '../../src/index.ts'
import { service } from '../records/service.ts'

const Book = defineModel('LostBook', { fields: { title: z.string() } })
const Tool = defineModel('LostTool', { fields: { title: z.string() } })
const books = () => createRouter({ model: Book, allowedFields: [], middlewares: [] })
const tools = (access: object = {}) =>
  createRouter({ model: Tool, allowedFields: [], middlewares: [], access })

function warned(mount: (app: App) => unknown): readonly string[] {
  const { app, log } = service()
  mount(app)
  return log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
}

const lost = (places: string, by: string, of: string) => [
  `${places}: ${by}, which was mounted first, gets these requests, and ${of} gets none of them. Mount that one first, or on another path.`,
]

describe('design, App: routes that never get a request are told when they are mounted', () => {
  test('of two routers on one path', () => {
    const only = {
      list: true,
      read: true,
      query: false,
      create: false,
      update: false,
      remove: false,
    }
    expect(warned((app) => app.mount('/books', books()).mount('/books/', tools(only)))).toEqual(
      lost(
        'GET /books, GET /books/:id',
        "the router on '/books' (LostBook)",
        "the router on '/books' (LostTool)",
      ),
    )
  })

  test('of a router below another one', () => {
    const said = lost(
      'GET /books/tools (as GET /books/:id)',
      "the router on '/books' (LostBook)",
      "the router on '/books/tools' (LostTool)",
    )
    expect(warned((app) => app.mount('/books', books()).mount('/books/tools', tools()))).toEqual(
      said,
    )
    expect(warned((app) => app.mount('/books/tools', tools()).mount('/books', books()))).toEqual([])
  })

  test('of a route of the app', () => {
    const all = "the router on '/:shop/books' (LostBook)"
    const route = (app: App) => app.get('/a/books/:slug', () => 1)
    expect(warned((app) => route(app.mount('/:shop/books', books())))).toEqual(
      lost(
        'GET /a/books/:slug (as GET /:shop/books/:id)',
        all.replace('/:shop/books', '/:shop/books/:id'),
        'that route',
      ),
    )
    expect(warned((app) => route(app).mount('/:shop/books', books()))).toEqual([])
  })

  test('but not what others may leave to it, nor what responds before all', () => {
    expect(warned((app) => app.get('/books', () => undefined).mount('/books', books()))).toEqual([])
    expect(warned((app) => app.mount('/', books()).mount('/', health()))).toEqual([])
  })
})
