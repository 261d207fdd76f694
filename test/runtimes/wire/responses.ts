/**
 * Responses as they come on a connection, one after the other.
 *
 * @module
 */

/** One response, as far as it has come. */
export interface Got {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly isWhole: boolean
}

/** The responses in `bytes` to requests of these methods, without interim ones. Throws if something else is there. */
export function responsesIn(bytes: Buffer, methods: readonly string[]): Got[] {
  const all: Got[] = []
  let rest = bytes
  for (let at = rest.indexOf(HEAD_END); at >= 0; at = rest.indexOf(HEAD_END)) {
    const [first = '', ...lines] = rest.subarray(0, at).toString().split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
    if (Number.isNaN(status)) throw new Error(`no response: ${first.slice(0, 80)}`)
    rest = rest.subarray(at + HEAD_END.length)
    if (status === 100) continue
    const headers = new Map(lines.map(headerOf))
    // A refusal of what could not be read as a request has a body, whatever its method.
    const hasNone = methods[all.length] === 'HEAD' && status < 400
    const end = hasNone ? 0 : bodyEnd(rest, headers)
    all.push({ status, headers, isWhole: end !== undefined })
    rest = rest.subarray(end ?? rest.length)
  }
  return all
}

const HEAD_END = '\r\n\r\n'

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

/** Where a body ends in `bytes`; undefined if it is not there as a whole. */
function bodyEnd(bytes: Buffer, headers: ReadonlyMap<string, string>): number | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return chunksEnd(bytes)
  const length = Number(headers.get('content-length') ?? 0)
  return bytes.length < length ? undefined : length
}

function chunksEnd(bytes: Buffer): number | undefined {
  for (let at = 0; ; ) {
    const start = bytes.indexOf('\r\n', at) + 2
    const size = Number.parseInt(bytes.subarray(at, start).toString(), 16)
    if (start < 2) return undefined
    if (Number.isNaN(size)) throw new Error(`no chunk: ${bytes.subarray(at, at + 80)}`)
    at = start + size + 2
    if (at > bytes.length) return undefined
    if (size === 0) return at
  }
}
