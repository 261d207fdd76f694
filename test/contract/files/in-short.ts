/**
 * The contract of file stores in two: what `npm test` asks of a server, and what takes many objects or bytes.
 *
 * @module
 */

import { type Contract, fileContract, type OpenFiles } from '../../../extras/contract/index.ts'

/** These depend little on the server, but on the adapter. */
const MUCH = [
  'a large object passes through without being held',
  'list gives more objects than fit into one page',
]

const part = (isIn: (sentence: string) => boolean): Contract<OpenFiles> =>
  Object.fromEntries(Object.entries(fileContract).filter(([sentence]) => isIn(sentence)))

export const contractInShort: Contract<OpenFiles> = part((sentence) => !MUCH.includes(sentence))

export const muchAtOnce: Contract<OpenFiles> = part((sentence) => MUCH.includes(sentence))
