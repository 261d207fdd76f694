/**
 * A cache as RFC 9111 allows it, which keeps whatever it may for as long as it may, and asks again with every tag that it has.
 *
 * @module
 */

/** A request, whose body is a string. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A response, read to its end. */
export interface Told {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  /** Whether a lifetime that the app gave allows it to be old. */
  readonly mayBeOld?: boolean
}

interface Kept extends Told {
  readonly asked: Asked
}

export type Origin = (asked: Asked) => Promise<Told>

const READS = ['GET', 'HEAD', 'QUERY']
/** Those that a cache may keep without being told (RFC 9110, 15.1), but for 206. */
const HEURISTIC = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
const CONDITIONS = ['if-match', 'if-modified-since', 'if-unmodified-since', 'range', 'if-range']

export class HttpCache {
  readonly #kept = new Map<string, Kept[]>()
  readonly #kind: 'shared' | 'private'
  readonly #origin: Origin
  /** How often it spoke for the app: with what it had, or after a 304. */
  hits = 0

  constructor(kind: 'shared' | 'private', origin: Origin) {
    this.#kind = kind
    this.#origin = origin
  }

  async ask(asked: Asked): Promise<Told> {
    if (!READS.includes(asked.method)) return this.#written(asked)
    if (CONDITIONS.some((name) => name in asked.headers)) return this.#origin(asked)
    const all = this.#kept.get(keyOf(asked)) ?? []
    const fitting = all.findLast((one) => isFor(one, asked))
    if (fitting && lifetimeOf(fitting, this.#kind) !== 'none') return this.#again(fitting, asked)
    if (asked.method === 'HEAD') return this.#head(asked, fitting)
    const own = all.flatMap(({ headers }) => headers.get('etag') ?? [])
    const given = asked.headers['if-none-match']
    const tags = [...(given === undefined ? [] : [given]), ...new Set(own)].join(', ')
    const answer = await this.#origin(
      tags === '' ? asked : { ...asked, headers: { ...asked.headers, 'if-none-match': tags } },
    )
    if (answer.status !== 304) return this.#keep(asked, answer)
    const tag = answer.headers.get('etag')
    const known = all.findLast(({ headers }) => headers.get('etag') === tag)
    if (!known) return answer
    const headers = new Headers(known.headers)
    for (const [name, value] of answer.headers) headers.set(name, value)
    const fresh = { ...known, headers }
    this.#forget(asked, known)
    this.#keep(asked, fresh)
    return this.#again(fresh, asked)
  }

  /** A response that it has; a 304 if the client has it too. */
  #again(kept: Told, { method, headers }: Asked): Told {
    this.hits += 1
    const tag = kept.headers.get('etag')
    const isKnown = tag !== null && headers['if-none-match']?.includes(tag)
    const isBare = isKnown || method === 'HEAD'
    return {
      ...{ status: isKnown ? 304 : kept.status, headers: kept.headers },
      bytes: isBare ? Buffer.alloc(0) : kept.bytes,
      mayBeOld: lifetimeOf(kept, this.#kind) === 'given',
    }
  }

  /** What a HEAD says of the response to a GET (RFC 9111, 4.3.5): it is as it was, or is not to be used. */
  async #head(asked: Asked, fitting: Kept | undefined): Promise<Told> {
    const answer = await this.#origin(asked)
    if (fitting && answer.status === 200) {
      this.#forget(asked, fitting)
      const isSame = ['etag', 'content-length', 'last-modified'].every((name) => {
        const value = answer.headers.get(name)
        return value === null || value === fitting.headers.get(name)
      })
      if (isSame) {
        const headers = new Headers(fitting.headers)
        for (const [name, value] of answer.headers) headers.set(name, value)
        this.#keep(fitting.asked, { ...fitting, headers })
      }
    }
    return answer
  }

  async #written(asked: Asked): Promise<Told> {
    const answer = await this.#origin(asked)
    if (answer.status >= 400) return answer
    for (const path of [asked.path, answer.headers.get('location')]) {
      for (const key of this.#kept.keys()) if (key.split(' ')[1] === path) this.#kept.delete(key)
    }
    return answer
  }

  #forget(asked: Asked, one: Told): void {
    const all = this.#kept.get(keyOf(asked)) ?? []
    this.#kept.set(
      keyOf(asked),
      all.filter((other) => other !== one),
    )
  }

  #keep(asked: Asked, answer: Told): Told {
    if (!mayKeep(asked, answer, this.#kind)) return answer
    const all = this.#kept.get(keyOf(asked)) ?? []
    const others = all.filter((one) => !isFor(one, asked))
    this.#kept.set(keyOf(asked), [...others, { ...answer, asked }])
    return answer
  }
}

/** HEAD is served from what a GET brought. */
function keyOf({ method, path, headers, body = '' }: Asked): string {
  return method === 'QUERY' ? `QUERY ${path} ${headers['content-type']} ${body}` : `GET ${path}`
}

/** Whether a response that it has was selected by the same headers (RFC 9111, 4.1). */
function isFor({ headers, asked }: Kept, { headers: now }: Asked): boolean {
  const names = (headers.get('vary') ?? '').toLowerCase().split(/\s*,\s*/)
  return names.every((name) => name !== '*' && asked.headers[name] === now[name])
}

function rulesOf(headers: Headers): Map<string, string> {
  const parts = (headers.get('cache-control') ?? '').toLowerCase().split(/\s*,\s*/)
  return new Map(parts.map((part) => part.split('=') as [string, string]))
}

/** Whether it may give a response again without asking: because the app said so, or because it said nothing. */
function lifetimeOf(
  { status, headers }: Told,
  kind: 'shared' | 'private',
): 'given' | 'own' | 'none' {
  const rules = rulesOf(headers)
  if (rules.has('no-cache')) return 'none'
  const seconds = (kind === 'shared' && rules.get('s-maxage')) || rules.get('max-age')
  if (seconds !== undefined) return Number(seconds) > 0 ? 'given' : 'none'
  if (headers.has('expires')) return 'none'
  return HEURISTIC.includes(status) ? 'own' : 'none'
}

/** RFC 9111, 3. */
function mayKeep({ headers: asked }: Asked, { status, headers }: Told, kind: string): boolean {
  const rules = rulesOf(headers)
  const isShared = kind === 'shared'
  if (rules.has('no-store') || (isShared && rules.has('private'))) return false
  if (status === 206 || status === 304) return false
  const isSaid = ['public', 'must-revalidate', 's-maxage'].some((rule) => rules.has(rule))
  if (isShared && 'authorization' in asked && !isSaid) return false
  const isAllowed = ['public', 'max-age', 's-maxage', 'private'].some((rule) => rules.has(rule))
  return isAllowed || headers.has('expires') || HEURISTIC.includes(status)
}
