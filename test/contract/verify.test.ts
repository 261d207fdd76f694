import * as nodeTest from 'node:test'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { deepEqual, equal, match, ok, rejects } from '../../extras/contract/assert.ts'
import { BrokenPromise, type Contract, type Runner, verify } from '../../extras/contract/index.ts'

const contract: Contract<{ readonly closed: string[] }> = {
  async 'is kept'() {},
  async 'is broken'() {
    equal(1, 2)
  },
  async 'is impossible'() {
    throw new Error('never asked')
  },
}

/** Registers the contract with a runner, and gives the names and the tests that it was told. */
function registered(
  runnerOf: (register: (name: string, test: () => Promise<void>) => void) => Runner,
) {
  const tests = new Map<string, () => Promise<void>>()
  const closed: string[] = []
  verify(
    'an adapter',
    contract,
    {
      open: () => ({ closed }),
      close: (subject) => void subject.closed.push('closed'),
      without: { 'is impossible': 'it cannot be' },
    },
    runnerOf((name, test) => void tests.set(name, test)),
  )
  return { names: [...tests.keys()], tests, closed }
}

describe('verify', () => {
  it('takes a function, a module with it and one with test', () => {
    const titles = ['an adapter: is kept', 'an adapter: is broken']
    expect(registered((register) => register).names).toEqual(titles)
    expect(registered((register) => ({ test: register })).names).toEqual(titles)
    expect(registered((it) => ({ it, describe: (_, body) => body() })).names).toEqual([
      'is kept',
      'is broken',
    ])
  })

  it('tells a runner that can skip what is left out, with the reason', () => {
    for (const name of ['skip', 'ignore']) {
      const { names } = registered((register) =>
        Object.assign(register.bind(null), { [name]: register }),
      )
      expect(names).toContain('an adapter: is impossible (not here: it cannot be)')
    }
  })

  it('closes each subject, also where the promise is broken', async () => {
    const { tests, closed } = registered((register) => register)
    await tests.get('an adapter: is kept')?.()
    await expect(tests.get('an adapter: is broken')?.()).rejects.toThrow(BrokenPromise)
    expect(closed).toEqual(['closed', 'closed'])
  })

  it('refuses a promise that is not in the contract, and what is no runner', () => {
    const open = () => ({ closed: [] })
    expect(() => verify('x', contract, { open, without: { 'is kpet': '' } }, it)).toThrow(
      "verify: 'without' names 'is kpet', but the contract has no such promise",
    )
    expect(() => verify('x', contract, { open }, {} as Runner)).toThrow(TypeError)
  })

  it('takes the runners as they are', () => {
    expectTypeOf(it).toExtend<Runner>()
    expectTypeOf({ describe, it }).toExtend<Runner>()
    expectTypeOf(nodeTest).toExtend<Runner>()
    expectTypeOf(nodeTest.test).toExtend<Runner>()
  })
})

describe('the assertions of contracts', () => {
  it('tell equal values from others', () => {
    deepEqual({ a: [1, new Date(5), { b: null }] }, { a: [1, new Date(5), { b: null }] })
    deepEqual({ a: 1, b: 2 }, { b: 2, a: 1 })
    equal(Number.NaN, Number.NaN)
    match('abc', /b/)
    for (const [one, other] of [
      [{ a: undefined }, {}],
      [{}, []],
      [new Date(1), new Date(2)],
      [[1], [1, 2]],
      ['1', 1],
      [0, -0],
      [null, {}],
      [new Map(), {}],
    ]) {
      expect(() => deepEqual(one, other)).toThrow(BrokenPromise)
    }
    expect(() => ok('', 'empty')).toThrow('empty')
    expect(() => match('a', /b/)).toThrow(BrokenPromise)
    expect(() => equal({ a: 1 }, 'x'.repeat(5000), 'here')).toThrow(/^here: expected x{2000}…, got/)
  })

  it('tell rejections apart', async () => {
    const reason = new RangeError('far')
    const failing = () => Promise.reject(reason)
    for (const wanted of [undefined, Error, RangeError, reason, (error: Error) => error === reason])
      await rejects(failing(), wanted)
    for (const wanted of [TypeError, new RangeError('far'), () => false])
      await expect(rejects(failing(), wanted)).rejects.toThrow(BrokenPromise)
    await expect(rejects(Promise.resolve(1), TypeError)).rejects.toThrow(
      'should reject with TypeError, not resolve to 1',
    )
  })
})
