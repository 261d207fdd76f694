import { describe, expect, it } from 'vitest'
import { Ledger } from './ledger.ts'

const nothing = { lost: 0, phantom: 0, resurrected: 0, duplicate: 0 }

/** A ledger with one acknowledged note of value 1. */
function one(): Ledger {
  const ledger = new Ledger()
  ledger.sent('a', 1)
  ledger.acknowledge('a', 1)
  return ledger
}

const a = (n: number) => ({ _id: '1', label: 'a', n })

describe('the ledger of the fault programme', () => {
  it('has nothing against what was acknowledged, nor against either end of a write that was cut', () => {
    expect(one().verdict([a(1)])).toEqual(nothing)
    for (const stored of [[a(1)], [a(2)]]) {
      const ledger = one()
      ledger.sent('a', 2)
      expect(ledger.verdict(stored)).toEqual(nothing)
    }
    for (const stored of [[], [a(1)]]) {
      const ledger = one()
      ledger.sent('a', undefined)
      expect(ledger.verdict(stored)).toEqual(nothing)
    }
  })

  it('finds an acknowledged write that is lost', () => {
    expect(one().verdict([])).toEqual({ ...nothing, lost: 1 })
    const changed = one()
    changed.sent('a', 2)
    changed.acknowledge('a', 2)
    expect(changed.verdict([a(1)])).toEqual({ ...nothing, lost: 1 })
  })

  it('finds what nobody has written, and what was refused', () => {
    expect(one().verdict([a(1), { _id: '2', label: 'b', n: 1 }])).toEqual({
      ...nothing,
      phantom: 1,
    })
    expect(one().verdict([a(9)])).toEqual({ ...nothing, phantom: 1 })
    const refused = new Ledger()
    refused.sent('a', 1)
    refused.refused('a', 1)
    expect(refused.verdict([a(1)])).toEqual({ ...nothing, phantom: 1 })
    const unchanged = one()
    unchanged.sent('a', 2)
    unchanged.refused('a', 2)
    expect(unchanged.verdict([a(2)])).toMatchObject({ phantom: 1 })
  })

  it('finds a note that is back after its delete, and one that is there twice', () => {
    const deleted = one()
    deleted.sent('a', undefined)
    deleted.acknowledge('a', undefined)
    expect(deleted.verdict([a(1)])).toEqual({ ...nothing, resurrected: 1 })
    expect(one().verdict([a(1), { ...a(1), _id: '2' }])).toEqual({ ...nothing, duplicate: 1 })
  })

  it('takes what it has seen once for settled', () => {
    const ledger = one()
    ledger.sent('a', 2)
    expect(ledger.verdict([a(2)])).toEqual(nothing)
    expect(ledger.verdict([a(1)])).toEqual({ ...nothing, lost: 1 })
  })
})
