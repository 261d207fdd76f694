import { expect, it } from 'vitest'
import type { Call } from './clients.ts'
import { type Entry, faultsIn } from './judge.ts'

const record = (by: string, more: object = {}) => ({
  _id: 'x',
  by,
  log: [],
  state: 'new',
  room: 'r',
  ...more,
})

/** A call that has ended well. */
function call(id: string, start: number, end: number, more: Partial<Call> = {}): Call {
  return { id, kind: 'call', start, end, status: 200, seen: [], wrote: [], ...more }
}

/** A log of one item, from what it was after each write. */
function logOf(...after: readonly (ReturnType<typeof record> | null)[]): Entry[] {
  return after.map((one, at) => {
    const before = after[at - 1] ?? null
    const kind = before ? (one ? 'updated' : 'removed') : 'created'
    const entry = { id: `${at}`, model: 'HistoryItem', kind, before, after: one } as const
    return { ...entry, by: one?.by ?? 'z' }
  })
}

const made = call('a', 0, 1, { wrote: ['x'], writes: 1 })
const changed = call('b', 2, 5, { wrote: ['x'], writes: 1 })
const log = logOf(record('a'), record('b'))
const left = [record('b')]
const reads = (by: string | null, start: number, end: number) =>
  call('r', start, end, { seen: [['x', by]] })

it('what some order explains is no fault', () => {
  for (const read of [reads('a', 1.5, 3), reads('a', 3, 6), reads('b', 3, 4), reads('b', 6, 7)]) {
    expect(faultsIn({ calls: [made, changed, read], log, left })).toEqual([])
  }
  const unknown = { ...changed, end: Number.POSITIVE_INFINITY, status: 0, wrote: [] }
  expect(faultsIn({ calls: [made, unknown], log, left })).toEqual([])
  expect(faultsIn({ calls: [made, unknown], log: log.slice(0, 1), left: [record('a')] })).toEqual(
    [],
  )
})

it.each<[string, readonly Call[], readonly Entry[], string]>([
  ['a read of what was replaced', [made, changed, reads('a', 6, 7)], log, 'no order explains'],
  ['a read of what comes later', [made, changed, reads('b', 1.2, 1.5)], log, 'no order explains'],
  ['a read of what nobody has written', [made, changed, reads('c', 2, 3)], log, 'has seen x by c'],
  ['a read that misses', [made, changed, reads(null, 2, 3)], log, 'has not seen x'],
  [
    'a list that misses',
    [made, changed, call('l', 2, 3, { isWhole: true })],
    log,
    'has not seen x',
  ],
  ['a write that is lost', [made, changed], log.slice(0, 1), 'b (200) has written 0 and not x'],
  [
    'a write that was refused',
    [made, { ...changed, status: 412, wrote: [] }],
    log,
    'has written 1',
  ],
  ['an entry that is twice there', [made, changed], [...log, ...log.slice(1)], 'the log has 1'],
  [
    'a step that reads before and after a write',
    [
      made,
      changed,
      call('s', 2, 6, {
        seen: [
          ['x', 'a'],
          ['x', 'b'],
        ],
      }),
    ],
    log,
    'no order explains',
  ],
  [
    'a walk that misses',
    [made, changed, call('w', 2, 3, { isWalk: true })],
    log,
    'call w misses x',
  ],
  [
    'a count that is too low',
    [made, changed, call('n', 2, 3, { counted: { room: 'r', total: 0 } })],
    log,
    'n is 0 of 1 to 1',
  ],
  [
    'a line that is lost',
    [made, changed],
    logOf(record('a', { log: ['a'] }), record('b', { log: ['b'] })),
    'lines are lost: a became b',
  ],
  [
    'a state that is left out',
    [made, changed],
    logOf(record('a'), record('b', { state: 'done' })),
    'new became done',
  ],
])('%s is a fault', (_, calls, log, fault) => {
  const last = log.at(-1)?.after
  expect(faultsIn({ calls, log, left: last ? [last] : [] }).join('\n')).toContain(fault)
})

it('two that read what the other one writes have no order', () => {
  const other = { ...record('c'), _id: 'y' }
  const calls = [
    made,
    call('c', 0, 1, { wrote: ['y'], writes: 1 }),
    call('b', 2, 9, { seen: [['y', 'c']], wrote: ['x'], writes: 1 }),
    call('d', 2, 9, { seen: [['x', 'a']], wrote: ['y'], writes: 1 }),
  ]
  const entries = [
    ...log,
    ...logOf(other, { ...other, by: 'd' }).map((one) => ({ ...one, id: `2${one.id}` })),
  ]
  const records = [...left, { ...other, by: 'd' }]
  expect(faultsIn({ calls, log: entries, left: records }).join()).toContain('no order explains')
  const [a, c, b, d] = calls as [Call, Call, Call, Call]
  const inTurn = [a, c, b, { ...d, seen: [['x', 'b']] as const }]
  expect(faultsIn({ calls: inTurn, log: entries, left: records })).toEqual([])
})
