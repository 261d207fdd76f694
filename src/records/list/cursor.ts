/**
 * Cursors: tokens of the id after which a scan continues, a signature of the sort, and a MAC over these and the scan. A
 * forged token, or one of another scan, is refused before the store is called.
 */

import { hexDigestOf, textMacUnder } from '#hmac'
import { base64url, sameText, textIn } from '../../http/base64url.ts'
import { derivedKey } from '../../http/derived-key.ts'
import { cursorOfOtherSort, invalidCursor } from '../../http/errors/refusals.ts'
import { type Filter, type SortKey, sortText } from '../../ports/store/filter.ts'

/** What a token is bound to. */
export interface Scan {
  readonly mount: string
  readonly filter: Filter
  readonly search: string | undefined
  readonly scope: Filter
  readonly sort: readonly SortKey[]
}

/** Issues and checks the tokens of an app, for each scan. */
export type Cursors = (scan: Scan) => ScanCursors

export interface ScanCursors {
  issue(id: string): string
  /** The anchor's id. Throws a 400 if the token is forged, or belongs to another scan or sort. */
  read(token: string): string
}

const MAX_SORT_DIGITS = 16
const MAX_MAC_DIGITS = 32
/** Ids have at most 1,000 characters. */
const MAX_LENGTH = 6000

/**
 * The cursors of an app. With a secret, the MAC's key is derived from it. Without one the key is known to everyone: the
 * MAC then only prevents mistakes, but works across restarts and instances.
 */
export function cursors(secret = ''): Cursors {
  // Created with the first token; the key is already in it.
  let keyed: ReturnType<typeof textMacUnder> | undefined
  const mac = (text: string): string => {
    keyed ??= textMacUnder(derivedKey(secret, 'fieldgate cursor'), 'hex')
    return keyed(text).slice(0, MAX_MAC_DIGITS)
  }
  return ({ mount, filter, search = null, scope, sort: order }) => {
    // What a token's MAC is over, beside the id and the sort that the token names.
    let others: string | undefined
    const bound = (id: string, sort: string) => {
      others ??= JSON.stringify([mount, meaning(filter), search, meaning(scope)]).slice(1)
      return mac(`[${JSON.stringify(id)},${JSON.stringify(sort)},${others}`)
    }
    return {
      issue(id) {
        const sort = signatureOf(order)
        return base64url(`${id}.${sort}.${bound(id, sort)}`)
      },
      read(token) {
        const parts = decode(token).split('.')
        const [sort, tag] = parts.splice(-2)
        if (parts.length === 0 || sort === undefined || tag === undefined) throw invalidCursor()
        // An id may have dots too.
        const id = parts.join('.')
        if (!sameText(tag, bound(id, sort))) throw invalidCursor()
        if (sort !== signatureOf(order)) throw cursorOfOtherSort()
        return id
      },
    }
  }
}

/** Those of sorts: a router's own order is always the same list. */
const signatures = new WeakMap<readonly SortKey[], string>()

function signatureOf(sort: readonly SortKey[]): string {
  const known = signatures.get(sort)
  if (known !== undefined) return known
  const signature = hexDigestOf(sortText(sort)).slice(0, MAX_SORT_DIGITS)
  signatures.set(sort, signature)
  return signature
}

/** The same string for filters that mean the same: a GET and its equivalent QUERY take each other's cursors. */
function meaning(filter: Filter): string {
  switch (filter.op) {
    case 'and':
    case 'or': {
      const parts = [...new Set(filter.filters.map(meaning))].sort()
      const [only] = parts
      return parts.length === 1 && only ? only : JSON.stringify([filter.op, parts])
    }
    case 'in':
    case 'nin': {
      const { op, field } = filter
      const values = [...new Set(filter.values.map((value) => JSON.stringify(value)))].sort()
      const single = op === 'in' ? 'eq' : 'ne'
      return JSON.stringify([values.length === 1 ? single : op, field, ...values])
    }
    default: {
      const { op, field, ...operand } = filter
      const operands = Object.values(operand).map((one) => JSON.stringify(one))
      return JSON.stringify([op, field, ...operands])
    }
  }
}

function decode(token: string): string {
  const text = token.length <= MAX_LENGTH ? textIn(token) : undefined
  // The last character may hold unused bits; a token has only one valid spelling.
  if (text === undefined || base64url(text) !== token) throw invalidCursor()
  return text
}
