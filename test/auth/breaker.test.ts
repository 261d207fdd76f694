import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { breaker, recently } from '../../src/auth/instance/circuit-breaker.ts'

interface Failure {
  readonly what: 'failed' | 'refused'
  readonly client: number
  readonly to: number
}

/** What can happen to one channel. */
type Event =
  | Failure
  | { readonly what: 'sent' | 'asked' }
  | { readonly what: 'later'; readonly seconds: number }

function events(clients: number): fc.Arbitrary<Event> {
  const client = fc.integer({ min: 1, max: clients })
  const to = fc.integer({ min: 1, max: 20 })
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ what: fc.constant('failed' as const), client, to }) },
    fc.record({ what: fc.constant('refused' as const), client, to }),
    fc.record({ what: fc.constantFrom('sent' as const, 'asked' as const) }),
    fc.record({ what: fc.constant('later' as const), seconds: fc.integer({ min: 0, max: 40 }) }),
  )
}

/** A breaker with a clock; `happens` returns whether a request was admitted, if it is one. */
function channel() {
  let time = 0
  const one = breaker(() => time * 1000)
  const failures = {
    failed: new Error('no'),
    refused: Object.assign(new Error('no'), { status: 400 }),
  }
  const happens = (event: Event): boolean | undefined => {
    if (event.what === 'later') time += event.seconds
    else if (event.what === 'sent') one.succeeded()
    else if (event.what === 'asked') return one.admits()
    else {
      const { what, client, to } = event as Failure
      one.failed({ client: `c${client}`, recipient: `r${to}`, error: failures[what] })
    }
    return undefined
  }
  return { one, happens, now: () => time }
}

/** A channel whose breaker has just opened. */
function opened() {
  const made = channel()
  for (const client of [101, 102, 103]) made.happens({ what: 'failed', client, to: client })
  return made
}

/** The rule in plain words: whether an event makes three failures of clients and recipients not seen for an hour. */
function evidenceFor(now: () => number): (event: Event) => boolean {
  let news: number[] = []
  const seen = new Map<string, number>()
  const isNew = (key: string) => now() - (seen.get(key) ?? Number.NEGATIVE_INFINITY) >= 3600
  return (event) => {
    if (event.what === 'sent') news = []
    if (event.what !== 'failed') return false
    const keys = [`c${event.client}`, `r${event.to}`]
    if (!keys.every(isNew)) return false
    for (const key of keys) seen.set(key, now())
    news = [...news.filter((at) => now() - at < 60), now()]
    if (news.length < 3) return false
    news = []
    return true
  }
}

const histories = (clients: number) => fc.array(events(clients), { maxLength: 120 })

describe('A breaker, in any order of events,', () => {
  it('stays closed while fewer than three clients meet failures', () => {
    fc.assert(
      fc.property(histories(2), (history) => {
        const { one, happens } = channel()
        for (const event of history) {
          happens(event)
          expect(one.secondsLeft()).toBe(0)
        }
      }),
    )
  })

  it('opens for failures of three clients with three recipients in a minute, and no others', () => {
    fc.assert(
      fc.property(histories(9), (history) => {
        const { one, happens, now } = channel()
        const evidence = evidenceFor(now)
        let opened = Number.NEGATIVE_INFINITY
        const mistakes = history.filter((event) => {
          const wasOpen = one.secondsLeft() > 0
          happens(event)
          const isOpen = one.secondsLeft() > 0
          if (event.what === 'sent') opened = Number.NEGATIVE_INFINITY
          if (evidence(event)) {
            // One that was opened before may be due to admit a probe.
            const isDue = now() - opened < 30
            opened = now()
            return !isOpen && !isDue
          }
          // A probe that was admitted closes the door behind it.
          return event.what !== 'asked' && isOpen && !wasOpen
        })
        expect(mistakes).toEqual([])
      }),
    )
  })

  it('admits one request in ten seconds while it is open', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 40 }), (pauses) => {
        const { happens, now } = opened()
        const admitted = [0]
        for (const seconds of pauses) {
          happens({ what: 'later', seconds })
          if (now() >= 30) break
          if (happens({ what: 'asked' })) admitted.push(now())
        }
        const gaps = admitted.slice(1).map((at, index) => at - (admitted[index] ?? 0))
        expect(gaps.every((gap) => gap >= 10)).toBe(true)
      }),
    )
  })

  it.each([
    ['one was sent', { what: 'sent' }],
    ['30 seconds have passed', { what: 'later', seconds: 30 }],
  ] as const)('admits all once %s', (_, event) => {
    const { one, happens } = opened()
    expect(one.admits()).toBe(false)
    happens(event)
    for (let tries = 0; tries < 5; tries += 1) expect(one.admits()).toBe(true)
  })

  it('is opened by one client that cannot connect, for 30 s an hour and no longer', () => {
    const { one, now } = channel()
    const error = Object.assign(new Error('x'), { code: 'ECONNREFUSED' })
    let open = 0
    for (let seconds = 0; seconds < 3600; seconds += 1) {
      one.failed({ client: 'c1', recipient: `r${seconds}`, error })
      if (one.secondsLeft() > 0) open += 1
    }
    expect([open > 0, now()]).toEqual([true, 0])
  })

  it('is closed again by a clock that was set back', () => {
    let time = 1_000_000
    const one = breaker(() => time)
    one.unreachable(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))
    expect(one.admits()).toBe(false)
    time = 0
    expect(one.admits()).toBe(true)
  })
})

describe('What is remembered for a time', () => {
  it('is bounded, and forgets the oldest alone', () => {
    const seen = recently(1000, 3, () => 0)
    for (const key of ['a', 'b', 'c', 'a', 'd']) seen.note(key)
    expect(['a', 'b', 'c', 'd'].map(seen.has)).toEqual([true, false, true, true])
  })

  it('ends after its time', () => {
    let time = 0
    const seen = recently(1000, 3, () => time)
    seen.note('a')
    time = 999
    expect(seen.has('a')).toBe(true)
    time = 1000
    expect(seen.has('a')).toBe(false)
  })
})
