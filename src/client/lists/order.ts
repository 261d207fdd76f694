/** The order of a list, as the server has it. */

/** Compares records by sort keys, and then by their ids. The strings of those in `numbers` are integers. */
export function orderedBy(
  sort: readonly string[],
  numbers: readonly string[] = [],
): (a: object, b: object) => number {
  const keys = [...sort, '_id']
  return (a, b) => {
    for (const key of keys) {
      const field = key.replace(/^-/, '')
      const values = [valueAt(a, field), valueAt(b, field)] as const
      const sign = numbers.includes(field) ? byNumber(...values) : compared(...values)
      if (sign !== 0) return key.startsWith('-') ? -sign : sign
    }
    return 0
  }
}

type Members = Readonly<Record<string, unknown>> | null | undefined

/** A record that is filled in stands where the server has its id. */
function valueAt(record: unknown, path: string): unknown {
  const value = path.split('.').reduce((one, name) => (one as Members)?.[name], record)
  return (value as Members)?._id ?? value
}

/** What is no integer, such as an id until the server has made one, is a text here too. */
function byNumber(...values: readonly [unknown, unknown]): number {
  const [a, b] = values.map(String)
  const areIntegers = [a, b].every((text) => /^-?\d+$/.test(`${text}`))
  if (!areIntegers) return compared(...values)
  return a === b ? 0 : BigInt(`${a}`) < BigInt(`${b}`) ? -1 : 1
}

/** As the server orders values: null first, strings by code point. */
function compared(a: unknown, b: unknown): number {
  if ((a ?? null) === null || (b ?? null) === null) {
    return Number((a ?? null) !== null) - Number((b ?? null) !== null)
  }
  if (typeof a !== 'string' || typeof b !== 'string') return Math.sign(Number(a) - Number(b))
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1
  return Math.sign((a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1))
}
