/** The body of a batch → what each operation asks for. */

import type { HttpError } from '../http/errors/errors.ts'
import { isFields } from '../model/writable.ts'
import * as refuse from './refusals.ts'

/** What one operation asks for: the request that a client would send alone. */
export interface OperationRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly ifMatch?: string
}

/** An operation that was refused, so that the batch is. */
export class Refused extends Error {
  /** The operation's index. */
  readonly operation: number

  /** `cause` is what the operation alone would have been answered with. */
  constructor(operation: number, cause: unknown) {
    super(`operation ${operation} was refused`, { cause })
    this.operation = operation
  }
}

const METHODS: readonly unknown[] = ['POST', 'PATCH', 'DELETE']
const MEMBERS: readonly string[] = ['method', 'path', 'body', 'ifMatch']
/** A path and perhaps a query string, of characters that a URL has. */
const PATH = /^\/[!$-;=?-Z_a-z~]*$/
const HEADER = /^[ -~\x80-\xff]+$/

/** The operations that `body` lists. Throws a 400 if it lists none or more than `most`, `Refused` for a wrong one. */
export function operationsIn(body: unknown, most: number): readonly OperationRequest[] {
  const operations = isFields(body) ? body.operations : undefined
  if (!Array.isArray(operations) || operations.length > most) throw refuse.operationsNotList(most)
  return operations.map((operation: unknown, at) => {
    const wrong = mistakeIn(operation)
    if (wrong) throw new Refused(at, wrong)
    return operation as OperationRequest
  })
}

/**
 * `asked` with the ids of records that earlier operations create: in the path for a segment `$<n>`, in the body for an
 * object `{ "$id": <n> }`, where `n` is the operation's index. Throws a 400 if `idOf` knows none.
 */
export function withCreatedIds(
  { path, body, ...rest }: OperationRequest,
  idOf: (operation: number) => string | undefined,
): OperationRequest {
  const found: Found = (operation, ...where) => {
    const id = typeof operation === 'number' ? idOf(operation) : undefined
    if (id === undefined) throw refuse.notCreatedBefore(...where)
    return id
  }
  return {
    ...rest,
    path: path.replace(/(?<=\/)\$(\d{1,9})(?=[/?]|$)/g, (name, at) =>
      encodeURIComponent(found(Number(at), name, 'path')),
    ),
    body: withIds(body, 'body', found),
  }
}

type Found = (operation: unknown, name: string, place: string) => string

function withIds(value: unknown, at: string, found: Found): unknown {
  if (Array.isArray(value)) {
    return value.map((element, index) => withIds(element, `${at}.${index}`, found))
  }
  if (!isFields(value)) return value
  const names = Object.keys(value)
  if (names.length === 1 && names[0] === '$id') return found(value.$id, '$id', at)
  return Object.fromEntries(
    names.map((name) => [name, withIds(value[name], `${at}.${name}`, found)]),
  )
}

function mistakeIn(operation: unknown): HttpError | undefined {
  if (!isFields(operation)) return refuse.notAnOperation()
  const unknown = Object.keys(operation).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined) return refuse.unknownMember(unknown, MEMBERS)
  const { method, path, ifMatch } = operation
  if (!METHODS.includes(method)) return refuse.methodNotInBatch()
  if (typeof path !== 'string') return refuse.invalidPath()
  if (path.length > refuse.MAX_PATH) return refuse.pathTooLong()
  if (!PATH.test(path)) return refuse.invalidPath()
  if (ifMatch === undefined) return undefined
  if (typeof ifMatch !== 'string') return refuse.invalidIfMatch()
  if (ifMatch.length > refuse.MAX_IF_MATCH) return refuse.ifMatchTooLong()
  return HEADER.test(ifMatch) ? undefined : refuse.invalidIfMatch()
}
