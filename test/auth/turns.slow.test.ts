import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { slots as nativeSlots } from '../../adapters/hashers/scrypt.ts'
import { type EndTurn, FairQueue } from '../../src/auth/keys/hashing.ts'
import { networkOf } from '../../src/auth/request-info.ts'
import { cheap, password } from './accounts.ts'
import { service } from './service.ts'

/** A queue with one turn, which the test hands on; `order` lists who has had it. */
async function queue() {
  const line = new FairQueue()
  line.open(1)
  const order: string[] = []
  let end = (await line.take({ client: 'first', account: 'first' })) as EndTurn
  const wait = (client: string, account: string, isKnown = false) =>
    line.take({ client, account, isKnown: () => isKnown }).then((turn) => {
      order.push(turn ? `${client}:${account}` : `${client}:${account} refused`)
      if (turn) end = turn
    })
  const next = async () => {
    // All have joined their lines by then.
    await new Promise(setImmediate)
    end()
    await new Promise(setImmediate)
  }
  return { wait, next, order }
}

describe('turns to hash', () => {
  it('go round the clients, however many requests each has', async () => {
    const { wait, next, order } = await queue()
    for (let sent = 0; sent < 5; sent += 1) void wait('flood', `name${sent}`)
    void wait('owner', 'ann')
    for (let turn = 0; turn < 3; turn += 1) await next()
    expect(order).toEqual(['flood:name0', 'owner:ann', 'flood:name1'])
  })

  it('go round the accounts of a client', async () => {
    const { wait, next, order } = await queue()
    for (let sent = 0; sent < 5; sent += 1) void wait('same', 'guessed')
    void wait('same', 'ann')
    for (let turn = 0; turn < 3; turn += 1) await next()
    expect(order).toEqual(['same:guessed', 'same:ann', 'same:guessed'])
  })

  it('go in an overload to the last that came and to the first in turn', async () => {
    const { wait, next, order } = await queue()
    for (let sent = 0; sent < 100; sent += 1) void wait(`stranger${sent}`, 'x')
    void wait('owner', 'ann')
    for (let turn = 0; turn < 4; turn += 1) await next()
    expect(order).toEqual(['owner:ann', 'stranger0:x', 'stranger99:x', 'stranger1:x'])
  })

  it('go to known clients every other time, whoever else waits', async () => {
    const { wait, next, order } = await queue()
    for (let sent = 0; sent < 20; sent += 1) void wait(`stranger${sent}`, 'x')
    for (let sent = 0; sent < 3; sent += 1) void wait('owner', 'ann', true)
    for (let turn = 0; turn < 8; turn += 1) await next()
    const owners = order.flatMap((one, at) => (one.startsWith('owner') ? [at] : []))
    expect(owners).toHaveLength(3)
    expect(order.slice(0, 2)).toContain('owner:ann')
    expect(Math.max(...owners)).toBeLessThan(6)
  })

  it('are not lost while a queue asks whether a client is known', async () => {
    const line = new FairQueue()
    line.open(1)
    const end = await line.take({ client: 'a', account: 'a' })
    const answer = Promise.withResolvers<boolean>()
    const later = line.take({ client: 'b', account: 'b', isKnown: () => answer.promise })
    end?.()
    answer.resolve(false)
    expect(await later).toBeTypeOf('function')
  })

  it('of a full queue: who has the most gives a place up, and takes none', async () => {
    const { wait, next, order } = await queue()
    for (let sent = 0; sent < 512; sent += 1) void wait('flood', `name${sent}`)
    await wait('flood', 'name512')
    expect(order).toEqual(['flood:name512 refused'])
    void wait('owner', 'ann')
    await next()
    expect(order.slice(1).map((one) => one.replace(/\d+/, ''))).toEqual([
      'flood:name refused',
      'owner:ann',
    ])
  })

  it('do not come after the longest wait: it is a refusal', async () => {
    const line = new FairQueue(5)
    line.open(1)
    const end = await line.take({ client: 'a', account: 'a' })
    expect(await line.take({ client: 'b', account: 'b' })).toBeUndefined()
    end?.()
    expect(await line.take({ client: 'c', account: 'c' })).toBeTypeOf('function')
  })

  it('go to who comes after those that Workers have ended, and to none of them', async () => {
    const [line, now] = [new FairQueue(1000), vi.spyOn(Date, 'now')]
    onTestFinished(() => now.mockRestore())
    line.open(1)
    await line.take({ client: 'ended', account: 'a' })
    const waiting = line.take({ client: 'ended while it waits', account: 'b' })
    now.mockReturnValue(Date.now() + 2000)
    expect(await line.take({ client: 'c', account: 'c' })).toBeTypeOf('function')
    expect(await waiting).toBeUndefined()
  })

  it.each([
    ['each from an address of its own', true, true],
    ["from the owner's address, each with one name", false, false],
    ["from the owner's address, with a new name each time", false, true],
  ])('the owner signs in while 300 strangers flood, %s', async (_, addresses, freshNames) => {
    let hashes = 0
    let client = ''
    const app = await service({
      auth: {
        client: () => client,
        password: {
          hash: cheap.hash,
          verify: async (...each) => {
            await new Promise((resolve) => setTimeout(resolve, 1))
            hashes += 1
            return cheap.verify(...each)
          },
        },
      },
    })
    const { user } = await app.register('ann@example.com')
    const login = (from: string, email: string, guess: string) => {
      client = from
      return app.post('/auth/login', { email, password: guess })
    }
    let over = false
    let sent = 0
    const stranger = async (number: number) => {
      while (!over) {
        sent += 1
        const name = `nobody${freshNames ? sent : number}@example.com`
        await login(addresses ? `stranger${number}` : 'home', name, 'a wrong password')
      }
    }
    const flood = Array.from({ length: 300 }, (__, number) => stranger(number))
    const waited: number[] = []
    for (let round = 0; round < 6; round += 1) {
      const before = hashes + 3
      while (hashes < before) await new Promise((resolve) => setTimeout(resolve, 1))
      const start = hashes
      expect((await login('home', 'ann@example.com', password)).status).toBe(200)
      waited.push(hashes - start)
    }
    over = true
    await Promise.all(flood)
    // In a queue without fairness it would be 300 each time, or a 503. Among new names of one address the owner is a new
    // one too: whether they come before the others is a matter of the moment.
    waited.sort((a, b) => a - b)
    expect(waited[3]).toBeLessThan(60)
    expect((await app.stored(user._id)).failedLoginAttempts).toBe(0)
  })
})

describe('computations at once', () => {
  const { env } = process
  const cores = (count: number) =>
    Object.defineProperty(globalThis, 'navigator', {
      value: { hardwareConcurrency: count },
      configurable: true,
    })

  it.each([
    [1, undefined, 1],
    [2, undefined, 2],
    [16, undefined, 3],
    [16, '8', 7],
    [4, '64', 4],
    [8, '1', 1],
    [8, '0', 1],
  ])('%i cores and UV_THREADPOOL_SIZE %s give %i', (count, pool, slots) => {
    const before = [
      Object.getOwnPropertyDescriptor(globalThis, 'navigator'),
      env.UV_THREADPOOL_SIZE,
    ]
    cores(count)
    delete env.UV_THREADPOOL_SIZE
    if (pool !== undefined) env.UV_THREADPOOL_SIZE = pool
    try {
      expect(nativeSlots()).toBe(slots)
    } finally {
      const [navigator, size] = before
      Object.defineProperty(globalThis, 'navigator', navigator as PropertyDescriptor)
      delete env.UV_THREADPOOL_SIZE
      if (typeof size === 'string') env.UV_THREADPOOL_SIZE = size
    }
  })
})

describe('the default client', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:DB8:0:1:aaaa::1', '2001:db8:0:1::/64'],
    ['2001:db8:0:0001:bbbb:cccc:dddd:1', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('is of %s %s', (address, key) => {
    expect(networkOf(address)).toBe(key)
  })
})
