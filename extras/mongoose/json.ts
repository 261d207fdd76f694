/** Values of Mongoose and BSON as records hold them. */

/** A value of a BSON type, recognised by its tag. */
interface Tagged {
  readonly _bsontype: string
  readonly sub_type?: number
  readonly value?: unknown
  toHexString?(includeDashes?: boolean): string
  toString(encoding?: string): string
}

/** `value`, a default of a schema, as a record holds it. */
export function recordValueOf(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if ('_bsontype' in value && typeof value._bsontype === 'string') return tagged(value as Tagged)
  if (value instanceof Uint8Array) return btoa(String.fromCharCode(...value))
  if (Array.isArray(value)) return [...value].map(recordValueOf)
  const members = value instanceof Map ? [...value] : Object.entries(plain(value))
  return Object.fromEntries(members.map(([key, member]) => [key, recordValueOf(member)]))
}

function tagged(value: Tagged): unknown {
  switch (value._bsontype) {
    case 'ObjectId':
      return value.toHexString?.()
    case 'Binary':
      return value.sub_type === 4 ? value.toHexString?.(true) : value.toString('base64')
    case 'Double':
    case 'Int32':
      return value.value
    default:
      return value.toString()
  }
}

/** A document of Mongoose without what it brings along. */
function plain(value: object): object {
  return 'toObject' in value && typeof value.toObject === 'function'
    ? (value.toObject() as object)
    : value
}
