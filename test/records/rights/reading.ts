/**
 * The doors through which records are seen, each with what it must show.
 *
 * @module
 */

import type { Fields } from '../../../src/index.ts'
import { Reading } from '../live/stream.ts'
import type { Answer, Message } from '../service.ts'
import type { Asked, Sight } from './oracle.ts'
import type { Action } from './programme.ts'

export type Ask = (method: string, path: string, message?: Message) => Promise<Answer>

/** One way to ask for a list. */
export interface ListDoor {
  readonly action: Action
  readonly isUrl: boolean
  /** What it cannot be asked for. */
  readonly lacks: readonly (keyof Asked)[]
  ask(ask: Ask, mount: string, asked: Asked): Promise<Answer>
  /** What its answer shows; records by default. */
  read?(answer: Answer): unknown
  /** What it must show; the records, as they are shown, by default. */
  expected?(sight: Sight, asked: Asked): unknown
}

/** The same text for the same values, whatever the order of members. */
export function flat(value: unknown): string {
  return JSON.stringify(value, (_, one) =>
    one && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

export function urlOf({ where = {}, search, sort, select, expand }: Asked): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(where)) query.set(name, String(value))
  if (search !== undefined) query.set('s', search)
  if (sort !== undefined) query.set('sort', sort)
  if (select) query.set('select', select.join())
  if (expand) query.set('expand', expand.join())
  return `?${query}`
}

export function bodyOf({ where, or, ...rest }: Asked): Fields {
  const filter = { ...where, ...(or && { or }) }
  return { ...rest, ...(Object.keys(filter).length > 0 && { filter }) }
}

const rows = (answer: Answer): unknown => answer.records

export const tool = async (ask: Ask, name: string, given: object): Promise<Answer> => {
  const params = { name, arguments: given }
  const answer = await ask('POST', '/mcp', {
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  })
  const { result } = answer.body as { result?: { structuredContent: Fields; isError?: boolean } }
  const body = (result?.structuredContent ?? answer.body) as Answer['body']
  // What a tool answers is no status of HTTP.
  const status = result && !result.isError ? 200 : answer.status === 200 ? 400 : answer.status
  const { text, headers } = answer
  return {
    status,
    body,
    text,
    headers,
    record: body.data as Fields,
    records: body.data as Fields[],
  }
}

const groups = (by: string): ListDoor => ({
  ...{ action: 'query', isUrl: false, lacks: ['sort', 'select', 'expand'] },
  ask: (ask, mount, asked) =>
    ask('QUERY', mount, { json: { ...bodyOf(asked), aggregate: { count: true }, by: [by] } }),
  expected(sight, asked) {
    if (!sight.rules.groups.includes(by) || !sight.knows(by)) return undefined
    const counts = new Map<unknown, number>()
    for (const one of sight.list(asked)) {
      const value = one[by] ?? null
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    return [...counts].map(([value, count]) => ({ [by]: value, count })).sort(byText)
  },
  read: ({ records }) => (Array.isArray(records) ? [...records].sort(byText) : records),
})
const byText = (a: unknown, b: unknown) => (flat(a) < flat(b) ? -1 : 1)

const file = (accept: string, read: (text: string) => unknown): Partial<ListDoor> => ({
  ask: (ask, mount, asked) => ask('GET', `${mount}${urlOf(asked)}`, { headers: { accept } }),
  read: ({ text }) => read(text),
})
const url = { action: 'list', isUrl: true, lacks: ['or'] } as const

/** All pages of a list, one after the other: by number, or by cursor. */
async function pages(ask: Ask, mount: string, asked: Asked): Promise<Answer> {
  const records: Fields[] = []
  const base = `${mount}${urlOf(asked)}&pageSize=2`
  let answer = await ask('GET', `${base}&page=1`)
  // Of a list by cursor, the first one has no name.
  if (answer.text.includes("Omit 'page'")) answer = await ask('GET', base)
  for (;;) {
    if (answer.status !== 200) return answer
    records.push(...answer.records)
    const next = nextOf(answer, records.length)
    if (next === undefined) return { ...answer, records }
    answer = await ask('GET', `${base}&${next}`)
  }
}

/** Which page comes next, if there is one; `found` records have come so far. */
function nextOf({ body, text }: Answer, found: number): string | undefined {
  const { currentPage = 0, totalPages = 0, totalRecords, nextCursor } = body.pagination as Pages
  if (nextCursor !== undefined) return nextCursor === null ? undefined : `cursor=${nextCursor}`
  if (currentPage < totalPages) return `page=${currentPage + 1}`
  if (totalRecords !== found) throw new Error(`${found} records came: ${text}`)
  return undefined
}

interface Pages {
  readonly currentPage?: number
  readonly totalPages?: number
  readonly totalRecords?: number
  readonly nextCursor?: string | null
}

export const LISTS: Readonly<Record<string, ListDoor>> = {
  get: { ...url, ask: (ask, mount, asked) => ask('GET', `${mount}${urlOf(asked)}`) },
  pages: { ...url, ask: pages },
  query: {
    ...{ action: 'query', isUrl: false, lacks: [] },
    ask: (ask, mount, asked) => ask('QUERY', mount, { json: bodyOf(asked) }),
  },
  'query as a post': {
    ...{ action: 'query', isUrl: false, lacks: [] },
    ask: (ask, mount, asked) =>
      ask('POST', mount, { json: bodyOf(asked), headers: { 'x-http-method-override': 'QUERY' } }),
  },
  tool: {
    ...{ action: 'query', isUrl: false, lacks: [] },
    ask: (ask, mount, asked) => tool(ask, 'query_records', { model: mount, ...bodyOf(asked) }),
  },
  ndjson: {
    ...url,
    ...file('application/x-ndjson', (text) =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ),
  } as ListDoor,
  csv: {
    ...url,
    ...file('text/csv', (text) => marksIn(text)),
    expected: (sight, asked) =>
      marksIn(JSON.stringify(sight.list(asked).map((one) => sight.shown(one, asked)))),
  } as ListDoor,
  live: {
    ...{ action: 'list', isUrl: true, lacks: ['or', 'select'] },
    async ask(_, mount, asked) {
      throw new Error(`${mount}${urlOf(asked)} is opened by the trial`)
    },
  },
  'groups by title': groups('title'),
  'groups by salary': groups('salary'),
  'groups by team': groups('team'),
}

export const rowsOf = (door: ListDoor, answer: Answer): unknown => (door.read ?? rows)(answer)

/** The marks in a text, also in what is encoded in it: each value has one of its own. */
export function marksIn(text: string): string[] {
  const encoded = (text.match(/[\w-]{16,}/g) ?? []).map((one) =>
    Buffer.from(one, 'base64url').toString('latin1'),
  )
  return [...new Set([text, ...encoded].flatMap((one) => one.match(/~\d+~/g) ?? []))].sort()
}

/** The first event of a live list, as an answer. */
export async function firstEvent(response: Response): Promise<Answer> {
  if (response.status !== 200) {
    const text = await response.text()
    const body = JSON.parse(text) as Answer['body']
    return {
      status: response.status,
      headers: response.headers,
      text,
      body,
      record: {},
      records: [],
    }
  }
  const reading = new Reading(response)
  const event = await reading.next()
  await reading.cancel()
  const { data } = (event?.data ?? {}) as { data: Fields[] }
  const headers = new Headers({ 'last-event-id': event?.id ?? '' })
  return {
    status: 200,
    headers,
    text: JSON.stringify(event),
    body: { data },
    record: {},
    records: data,
  }
}
