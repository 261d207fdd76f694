/**
 * Runs a line of a program as an app does that starts with it.
 *
 * @module
 */

import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter, createRouter, defineModel, ref } from '../../src/index.ts'

const secret = 'a-secret-of-more-than-32-characters-0123'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** What the app says that starts with `line`; undefined if it starts. */
export async function startedWith(line: string): Promise<string | undefined> {
  const store = sqliteStore()
  const name = z.string()
  const auth = createAuthRouter({
    fields: { name },
    token: { secret },
    roles: { list: ['user', 'admin'] },
  })
  const Book = defineModel('Book', {
    fields: {
      ...{ title: z.string(), year: z.number().optional(), owner: ref('User') },
      ...{ tags: z.array(z.string()), note: z.string() },
    },
    hidden: ['note'],
  })
  const app = createApp({ store, logger: silent, env: {} })
  const given = { z, createApp, createAuthRouter, createRouter, defineModel, ref }
  const names = { ...given, secret, store, name, auth, Book, app }
  try {
    app.mount('/auth', auth.router)
    const made = new Function(...Object.keys(names), `return ${line}`)(...Object.values(names))
    if (made?.shape) app.mount('/x', createRouter({ model: made, middlewares: [] }))
    else if (made?.router) app.mount('/y', made.router)
    else if (made?.attach) app.mount('/books', made)
    await app.ready()
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    await app.close()
  }
}
