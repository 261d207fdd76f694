import { expect, it } from 'vitest'
import { causeText, keptText, messageText, stackText } from '../../src/ports/values/causes.ts'

it('tells each cause of an error once, also where the message has it already', () => {
  const full = new Error('disk is full')
  const opened = new Error("'a.db' cannot be opened: disk is full", { cause: full })
  const failed = new Error('no backup', { cause: opened })
  expect(causeText(failed)).toBe("no backup: 'a.db' cannot be opened: disk is full")
  expect(causeText(new Error('', { cause: full }))).toBe('disk is full')
})

it('tells why no address of a host could be reached', () => {
  const refused = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:1`))
  const none = new AggregateError(refused)
  expect(causeText(new Error('no database', { cause: none }))).toBe(
    'no database: connect ECONNREFUSED ::1:1',
  )
  expect(messageText(none)).toBe('connect ECONNREFUSED ::1:1')
  expect(stackText(new TypeError('fetch failed', { cause: none }))).toContain('::1:1')
})

it.each([new Error(), '', new AggregateError([])])('has some text for %o', (thrown) => {
  expect(keptText(thrown)).not.toBe('')
})

it.each([
  ['null', null],
  ['a symbol', Symbol('x')],
  ['an object without a prototype', Object.create(null)],
  [
    'an error that throws',
    Object.defineProperty(new Error('x'), 'message', { get: thrower, set: thrower }),
  ],
  ['a proxy that is revoked', revoked()],
])('tells of %s without throwing', (_, thrown) => {
  for (const tell of [stackText, messageText, keptText]) expect(typeof tell(thrown)).toBe('string')
})

function thrower(): never {
  throw new Error('no')
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
