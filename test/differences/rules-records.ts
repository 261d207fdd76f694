/**
 * Rows that show inside records, in responses and in the database: each says what it makes of the older package's record, and after
 * all of them the record must be fieldgate's.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import type { Compared, Difference } from './compare.ts'
import { CHOSEN } from './pairs.ts'
import { sentIn } from './rule.ts'

type Stored = Readonly<Record<string, unknown>>

/** What a row makes of a record. */
interface Change {
  /** Words of the row's first cell. */
  readonly row: string
  /** The record as it is here, `undefined` if the row does not concern it. */
  change(record: Stored, about: About): Stored | undefined
}

interface About {
  readonly facet: Difference['facet']
  readonly method: string
  readonly sent: Readonly<Record<string, unknown>>
  /** Whether the record is the one that was written. */
  readonly written: boolean
  /** The record of the same place here. */
  readonly here: Stored
}

const without = (record: Stored, name: string): Stored | undefined =>
  name in record
    ? Object.fromEntries(Object.entries(record).filter(([other]) => other !== name))
    : undefined

const changes: readonly Change[] = [
  {
    row: 'a new record may choose its `_id`',
    change: (record) => (record._id === CHOSEN ? { ...record, _id: 'new' } : undefined),
  },
  {
    row: 'responses have `__v`',
    change: (record, { facet }) => (facet === 'records' ? without(record, '__v') : undefined),
  },
  {
    row: 'a new record is stored with `__v`',
    change: (record, { facet }) =>
      facet === 'stored' && record._id === 'new' ? without(record, '__v') : undefined,
  },
  {
    row: 'a PATCH may set `__v`',
    change: (record, { facet, written, method, sent, here }) => {
      if (facet !== 'stored' || !written || method !== 'PATCH' || !('__v' in sent)) return undefined
      return '__v' in here ? { ...record, __v: here.__v } : without(record, '__v')
    },
  },
  {
    row: 'responses show members that no model declares',
    change: (record, { facet }) =>
      facet === 'records' ? without(record, 'undeclared') : undefined,
  },
  {
    row: 'a new record is shown with its hidden fields',
    change: (record, { facet, method }) =>
      facet === 'records' && method === 'POST' ? without(record, 'secret') : undefined,
  },
  {
    row: '`null` is stored where there is a default',
    change: (record, { method, written, sent }) =>
      written && method === 'POST' && sent.stock === null && record.stock === null
        ? { ...record, stock: 0 }
        : undefined,
  },
  {
    row: 'an empty object is left out',
    change: (record, { written, sent }) =>
      written && isDeepStrictEqual(sent.size, {}) && !('size' in record)
        ? { ...record, size: {} }
        : undefined,
  },
  {
    row: 'a PATCH with operators',
    change: operated,
  },
]

/** What operators, and dotted names, made of a record is not made here. */
function operated(record: Stored, { written, method, sent, here }: About): Stored | undefined {
  const touched = Object.entries({ $set: 'name', $inc: 'price', 'size.w': 'size' })
    .filter(([operator, name]) => operator in sent && !(name in sent))
    .map(([, name]) => name)
  if (!written || touched.length === 0 || (method !== 'PATCH' && method !== 'POST'))
    return undefined
  const kept = touched.flatMap((name) => (name in here ? [[name, here[name]]] : []))
  const rest = Object.entries(record).filter(([name]) => !touched.includes(name))
  return { ...Object.fromEntries(rest), ...Object.fromEntries(kept) }
}

/** What is left of a difference in records after all rows, and the rows that changed something. */
export function recordRules(
  { facet, there, here }: Difference,
  { pair }: Compared,
): { rows: string[]; same: boolean; there: unknown } {
  const rows = new Set<string>()
  const sent = sentIn(pair)
  const others = flat(here)
  const written = ({ _id }: Stored) =>
    pair.method === 'POST'
      ? _id === 'new' || _id === CHOSEN
      : pair.path.toLowerCase().includes(String(_id))
  const changed = flat(there).map((record, at) => {
    const of = {
      facet,
      method: pair.method,
      sent,
      written: written(record),
      here: others[at] ?? {},
    }
    return changes.reduce((current, { row, change }) => {
      const next = change(current, of)
      if (next === undefined || isDeepStrictEqual(next, current)) return current
      rows.add(row)
      return next
    }, record)
  })
  return { rows: [...rows], same: isDeepStrictEqual(changed, others), there: changed }
}

function flat(value: unknown): Stored[] {
  return value === undefined ? [] : ([value].flat(2) as Stored[])
}
