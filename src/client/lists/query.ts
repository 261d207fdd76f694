/** Lists as requests: a URL where it can say what is wanted, else QUERY (RFC 10008), else what stands in for it. */

import { type Answer, type Ask, json } from '../sending/answers.ts'

export interface Wanted {
  readonly where?: Readonly<Record<string, unknown>> | undefined
  readonly search?: string | undefined
  readonly sort?: string | readonly string[] | undefined
  readonly page?: number | undefined
  readonly pageSize?: number | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly select?: readonly string[] | undefined
  readonly expand?: readonly string[] | undefined
  /** What to compute, and by which groups: only a body can say it. */
  readonly aggregate?: object | undefined
  readonly by?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
  readonly headers?: Ask['headers']
}

/** Statuses with which servers and proxies refuse a method that they do not know. */
const UNKNOWN_METHOD = [400, 403, 404, 405, 501]
/** What only the server knows: how it pages (by cursor there is no first page to name), and which strings are dates. */
const UNSAID = /by cursor|^Invalid range/
/** How long QUERY is not tried first after a refusal, in milliseconds. */
const REFUSED_MS = 60_000

/** What is remembered of a mount: until when QUERY is not tried first, as it did not get through, and until when it pages by cursor. */
export interface Refusal {
  until: number
  cursor?: number
}

/** Asks for the list at `path`: the first way that is not refused. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the ways stand in their order
export async function listed(
  path: string,
  { signal, headers, ...given }: Wanted,
  send: (ask: Ask) => Promise<Answer>,
  refusal: Refusal,
): Promise<Answer> {
  // As it is written: dates are strings, and what is undefined is not there.
  const wanted: Wanted = JSON.parse(json(given))
  const { where: filter, ...rest } = wanted
  const { pageSize, page, cursor } = rest
  // `pageSize` alone starts paging in a QUERY, and by cursor, and not in another URL.
  const isByCursor = cursor || (refusal.cursor as number) > Date.now()
  const starts = pageSize && page === undefined && !isByCursor
  const url = inUrl(starts ? { ...wanted, page: 1 } : wanted)
  const get = (query = '') => ({ method: 'GET', path: path + query, signal, headers })
  if (url !== undefined && !filter && !starts) return send(get(url))

  const query: Ask = { ...get(), method: 'QUERY', body: JSON.stringify({ ...rest, filter }) }
  const override = { ...headers, 'X-HTTP-Method-Override': 'QUERY' }
  const ways: Ask[] = [{ ...query, method: 'POST', headers: override }]
  if (url !== undefined) ways.unshift(get(url), ...(starts ? [get(inUrl(wanted))] : []))
  if (Date.now() < refusal.until) ways.push(query)
  else ways.unshift(query)

  let first: Answer | undefined
  for (const way of ways) {
    const answer = await send(way)
    const isFailed = isRefused(answer)
    first ??= answer
    if (/by cursor/.test(answer.body?.error as string)) refusal.cursor = Date.now() + REFUSED_MS
    if (way === query) {
      refusal.until = isFailed ? Date.now() + REFUSED_MS : 0
      // It may be lost because a browser does not send it to another origin.
      if (!answer.status) continue
    }
    if (!isFailed) return answer.status ? answer : first
  }
  return first as Answer
}

/** Whether it did not get through: refused by the router, or answered by something that is not fieldgate. */
function isRefused({ status, body }: Answer): boolean {
  return (
    status === 405 || (body ? UNSAID.test(body.error as string) : UNKNOWN_METHOD.includes(status))
  )
}

/** The query string that says what is wanted; undefined if none does. */
export function inUrl({
  where = {},
  search,
  sort,
  limit,
  aggregate,
  ...rest
}: Wanted): string | undefined {
  const [key, another] = [sort].flat()
  const conditions = inParameters(where)
  if (!conditions || aggregate || limit !== undefined || another) return undefined
  // What is undefined is left out.
  const given = JSON.parse(JSON.stringify({ ...conditions, s: search, sort: key, ...rest }))
  const text = `${new URLSearchParams(given)}`
  return text && `?${text}`
}

/** Conditions as the parameters of a range and of a comparison of another field; undefined if there are more. */
function inParameters(where: object): object | undefined {
  const all = Object.entries(where).flatMap(([field, condition]) =>
    Object.entries<string>(condition?.constructor === Object ? condition : { eq: condition }).map(
      ([operator, value]) => [field, operator, value] as const,
    ),
  )
  // One comparison takes more values than a range does.
  for (const rangeField of all.length > 1 ? Object.keys(where) : ['']) {
    const range: Record<string, string> = { gte: '', lte: '' }
    let between = ''
    const [compared, more] = all.filter(([field, operator, value]) => {
      const separator = field === rangeField && operator in range && separatorOf(value)
      if (!separator) return true
      between = separator
      range[operator] = value
      return false
    })
    const [compareField, compareOperator, compareValue = 0] = compared ?? []
    // An empty value would not compare at all, lists and null cannot be written, and digits are a number where a field takes both.
    const isSaid =
      typeof compareValue === 'string'
        ? Number.isNaN(Number(compareValue))
        : typeof compareValue === 'number'
    if (more || compareField === rangeField || !isSaid) continue
    return {
      ...(between && { rangeField, range: range.gte + between + range.lte }),
      ...(compared && { compareField, compareOperator, compareValue }),
    }
  }
  return undefined
}

/** What stands between the bounds of a range, of which this is one; undefined if no range can say it. */
function separatorOf(value: unknown): string | undefined {
  // Numbers have no minus, and dates have hyphens.
  if (/^\d{4}-\d\d-\d\d/.test(value as string)) return '..'
  return typeof value === 'number' && /^[\d.]+$/.test(value as unknown as string) ? '-' : undefined
}
