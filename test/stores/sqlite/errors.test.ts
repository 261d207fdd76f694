import { describe, expect, it } from 'vitest'
import { portError } from '../../../adapters/stores/sqlite/layout/errors.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  QueryTooLong,
  RefusedWrite,
  StoreUnavailable,
} from '../../../src/ports/store/store-errors.ts'

/** What Cloudflare's documentation and its users say that D1 says. */
const UNAVAILABLE = [
  'D1_ERROR: Network connection lost.',
  'Network connection lost.',
  'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
  'D1_ERROR: D1 DB reset because its code was updated.',
  'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
  'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
  "D1_ERROR: Can't read from request stream because client disconnected.",
  'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
  'D1_ERROR: Exceeded maximum DB size.',
  "D1_ERROR: Your account has exceeded D1's maximum account storage limit, please contact Cloudflare",
  'D1_ERROR: database or disk is full: SQLITE_FULL',
  'D1_ERROR: database is locked: SQLITE_BUSY',
  'D1_ERROR: internal error; reference = abc',
  'D1_ERROR: Failed to parse body as JSON, got: error code: 1031',
]

/** What Cloudflare's documentation and workerd have of the storage of a Durable Object. */
const OUT_OF_OBJECT = [
  "The Durable Object's code has been updated, this version can no longer access storage.",
  'Durable Object reset because its code was updated.',
  'Durable Object storage is no longer accessible.',
  'Durable Object storage operation exceeded timeout which caused object to be reset.',
  'Internal error in Durable Object storage write caused object to be reset.',
  'Durable Object is overloaded. Requests queued for too long.',
  'Exceeded allowed rows written in Durable Objects free tier.',
]

const BROKEN = [
  'Durable Object is not backed by SQL.',
  'D1_ERROR: no such column: ~text at offset 7: SQLITE_ERROR',
  'D1_ERROR: near "presets": syntax error at offset 4: SQLITE_ERROR',
  'something else: Network connection lost.',
]

describe('what D1 and the storage of a Durable Object say', () => {
  it.each([...UNAVAILABLE, ...OUT_OF_OBJECT])('%s is a 503', (message) => {
    expect(portError(new Error(message), undefined)).toBeInstanceOf(StoreUnavailable)
  })

  it.each(BROKEN)('%s is an error of the app', (message) => {
    const error = new Error(message)
    expect(portError(error, undefined)).toBe(error)
  })

  it.each([
    'D1_ERROR: statement too long: SQLITE_TOOBIG',
    'D1_ERROR: too many columns in result set: SQLITE_ERROR',
    'D1_ERROR: Expression tree is too large (maximum depth 100): SQLITE_ERROR',
    'SQLITE_ERROR: parser stack overflow',
  ])('%s: the request is too long', (message) => {
    const error = new Error(message)
    expect(portError(error, undefined)).toBeInstanceOf(QueryTooLong)
  })

  it('a record that is too large is refused', () => {
    const error = new Error('D1_ERROR: string or blob too big: SQLITE_TOOBIG')
    expect(portError(error, undefined)).toBeInstanceOf(RefusedWrite)
  })
})

describe('the options of sqliteStore', () => {
  it.each([
    ["unknown option 'pth'. Did you mean 'path'?", { pth: 'x.db' }],
    ['the options must be an object', 'x.db'],
    ["'path' is undefined", { path: undefined }],
    ["'path' must be the name of a file", { path: '' }],
    ["'path' must be the name of a file", { path: '  ' }],
    ["'path' must be the name of a file", { path: 7 }],
  ])('are refused where nobody would notice that nothing is kept: %s', (message, options) => {
    expect(() => sqliteStore(options as never)).toThrow(TypeError)
    expect(() => sqliteStore(options as never)).toThrow(`sqliteStore: ${message}`)
  })

  it('say what is wrong with a folder that is not there', () => {
    expect(() => sqliteStore({ path: 'no/such/folder/app.db' })).toThrow(
      "sqliteStore: 'no/such/folder/app.db' cannot be opened: unable to open database file. Its folder must exist and be writable: SQLite keeps files beside it",
    )
  })
})
