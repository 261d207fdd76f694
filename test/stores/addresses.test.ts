/** What is told of an address that cannot be read: never the password in it. */

import { inspect } from 'node:util'
import { expect, it, vi } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { libsqlStore } from '../../adapters/stores/sqlite/calls/libsql.ts'
import { createAuthRouter } from '../../src/index.ts'

const token = { secret: 'a secret of at least thirty-two characters' }
const opening: readonly [string, () => unknown][] = [
  ['postgresStore', () => postgresStore({ url: 'postgres://me:sesame/1@db.example.com/atlas' })],
  ['mongoStore', () => mongoStore({ url: 'mongodb://me:sesame/1@db.example.com/atlas' })],
  ['libsqlStore', () => libsqlStore({ url: 'libsql//db.example.com?authToken=sesame' })],
  [
    'mail.transport',
    () =>
      createAuthRouter({
        token,
        mail: { transport: 'smtp//me:sesame@example.com', from: 'a@b.ch' },
      }),
  ],
]

it.each(opening)('%s tells what is wrong with an address, and not the address', (name, open) => {
  const error = thrownBy(open)
  expect(error).toBeInstanceOf(TypeError)
  expect(inspect(error)).toContain(name)
  expect(inspect(error, { depth: null })).not.toContain('sesame')
})

it('nor where the runtime says it in the message', () => {
  const asDenoDoes = class {
    constructor(text: string) {
      throw new TypeError(`Invalid URL: '${text}'`)
    }
  }
  vi.stubGlobal('URL', asDenoDoes)
  const error = thrownBy(() => postgresStore({ url: 'postgres://me:sesame@a.example.com,b:5/c' }))
  vi.unstubAllGlobals()
  expect(inspect(error)).toContain('postgresStore: Invalid URL')
  expect(inspect(error)).not.toContain('sesame')
})

it.each([0, -1, 1.5, Number.NaN, '5'])('PostgreSQL takes no pool of %s connections', (max) => {
  const open = () => postgresStore({ url: 'postgres://127.0.0.1:1/a', max: max as number })
  expect(open).toThrow(new TypeError("postgresStore: 'max' must be a whole number of at least 1"))
})

it.each(['mysql://127.0.0.1/a', 'atlas'])('nor the address of something else, as %s', (url) => {
  const refused = new TypeError("postgresStore: 'url' must begin with postgres://")
  expect(() => postgresStore({ url })).toThrow(refused)
})

function thrownBy(open: () => unknown): unknown {
  try {
    return open()
  } catch (error) {
    return error
  }
}
