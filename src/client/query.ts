/**
 * Lists as requests: a URL where it can say what is wanted, else QUERY (RFC 10008), else what stands in for it.
 *
 * @module
 */

import type { Answer, Ask } from './answers.ts'

/** What a list is asked for. */
export interface Wanted {
  readonly where?: Readonly<Record<string, unknown>> | undefined
  readonly search?: string | undefined
  readonly sort?: string | readonly string[] | undefined
  readonly page?: number | undefined
  readonly pageSize?: number | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly signal?: AbortSignal | undefined
}

type Send = (ask: Ask) => Promise<Answer>

/** Statuses with which servers and proxies refuse a method that they do not know. */
const UNKNOWN_METHOD = [400, 403, 404, 405, 501]

/** Lists of one mount. It remembers when QUERY does not get through. */
export class Lists {
  readonly #url: string
  readonly #send: Send
  #isQueryRefused = false

  constructor(url: string, send: Send) {
    this.#url = url
    this.#send = send
  }

  /** Asks for a list. */
  async ask(wanted: Wanted): Promise<Answer> {
    const { where, limit, pageSize, page, cursor } = wanted
    // `pageSize` alone starts paging in a QUERY, and not in a URL.
    const isPaged = pageSize === undefined || page !== undefined || cursor !== undefined
    if (!where && limit === undefined && isPaged) {
      const url = inUrl(wanted)
      if (url !== undefined) return this.#get(url, wanted)
    }
    if (this.#isQueryRefused) return this.#otherwise(wanted)
    const answer = await this.#send(this.#query('QUERY', wanted))
    if (!isRefused(answer) || wanted.signal?.aborted) return answer
    const other = await this.#otherwise(wanted)
    this.#isQueryRefused = other.body?.success === true
    return isRefused(other) ? answer : other
  }

  /** Without QUERY: as a URL if there is one, else as a POST that says what it means. */
  async #otherwise(wanted: Wanted): Promise<Answer> {
    const { pageSize, page, cursor } = wanted
    const starts = pageSize !== undefined && page === undefined && cursor === undefined
    const url = inUrl(starts ? { ...wanted, page: 1 } : wanted)
    if (url === undefined) return this.#send(this.#query('POST', wanted))
    const answer = await this.#get(url, wanted)
    // Only the server knows how it pages. By cursor there is no first page to name.
    const isByCursor = starts && answer.body?.error?.includes('paginates by cursor')
    return isByCursor ? this.#get(inUrl(wanted) ?? url, wanted) : answer
  }

  #get(url: string, { signal }: Wanted): Promise<Answer> {
    return this.#send({ method: 'GET', url: this.#url + url, signal })
  }

  #query(method: string, { where, signal, ...body }: Wanted): Ask {
    return {
      method,
      url: this.#url,
      body: { ...body, ...(where && { filter: where }) },
      signal,
      ...(method === 'POST' && { headers: { 'X-HTTP-Method-Override': 'QUERY' } }),
    }
  }
}

/** Whether QUERY did not get through: refused by the router, or answered by something that is not fieldgate. */
function isRefused({ status, body }: Answer): boolean {
  return status === 0 || status === 405 || (!body && UNKNOWN_METHOD.includes(status))
}

/** The query string that says what is wanted; undefined if none does. */
function inUrl({
  where = {},
  search,
  sort,
  page,
  pageSize,
  limit,
  cursor,
}: Wanted): string | undefined {
  const [compared, another] = Object.entries(where).filter(
    ([, condition]) => condition !== undefined,
  )
  const key = Array.isArray(sort) && sort.length === 1 ? sort[0] : sort
  if (another || limit !== undefined || (key !== undefined && typeof key !== 'string'))
    return undefined
  const comparison = compared && inParameters(...compared)
  if (compared && !comparison) return undefined
  const parameters = new URLSearchParams(comparison)
  for (const [name, value] of Object.entries({ s: search, sort: key, page, pageSize, cursor })) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text && `?${text}`
}

/** A condition as the parameters of one comparison, if it is one. */
function inParameters(field: string, condition: unknown): Record<string, string> | undefined {
  const isOperators = Object.prototype.toString.call(condition) === '[object Object]'
  const operators = Object.entries(isOperators ? (condition as object) : { eq: condition })
  const [[operator, value] = [], more] = operators
  // An empty value would not compare at all, and lists and null cannot be written.
  if (
    operator === undefined ||
    more ||
    !(typeof value === 'number' || (typeof value === 'string' && value !== ''))
  )
    return
  return { compareField: field, compareOperator: operator, compareValue: String(value) }
}
