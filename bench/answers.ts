/**
 * The check that every server answers a work alike: the same records with the same fields.
 *
 * @module
 */

import type { Requests } from './load.ts'
import { type Contender, LIMIT } from './servers.ts'
import type { Work } from './work.ts'

/** What the first server answered to each request that is checked. */
const answers = new Map<string, string>()

/** Throws unless `server` answers the work's first request, and one from the middle, as the servers before it did. */
export async function checkAnswers(
  server: Contender,
  work: Work,
  requests: Requests,
  at: { readonly base: string; readonly size: number },
): Promise<void> {
  await checkAnswer(server, work, requests, { ...at, request: 0 })
  if (requests.every) await checkAnswer(server, work, requests.every.is, { ...at, request: 0 })
  const middle = Math.floor(requests.paths.length / 2)
  if (middle > 0) await checkAnswer(server, work, requests, { ...at, request: middle })
}

async function checkAnswer(
  server: Contender,
  work: Work,
  { method, paths, body, headers }: Requests,
  { base, size, request }: { readonly base: string; readonly size: number; request: number },
): Promise<void> {
  const sent = typeof body === 'string' ? body : body?.[0]
  const response = await fetch(`${base}${paths[request]}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(sent !== undefined && { body: sent }),
  })
  const text = await response.text()
  const right = server.name === LIMIT ? response.ok : isRight(work, response)
  if (!right)
    throw new Error(
      `${server.name} answers ${work.name} with ${response.status}: ${text.slice(0, 300)}`,
    )
  if (work.status !== undefined) return
  const { dialect } = server
  const seen = normalised(
    dialect?.answer(text, response.headers, paths[request] ?? '') ?? text,
    method,
  )
  const key = `${work.name} ${method} ${request} of ${size}${aloneOf(server)}`
  const first = answers.get(key) ?? seen
  if (first !== seen && !(dialect && isSamePage(first, seen))) {
    throw new Error(
      `${work.name} is answered in two ways, by ${server.name}:\n${apart(first, seen)}`,
    )
  }
  if (!dialect) answers.set(key, first)
}

function aloneOf({ name, isAlone }: Contender): string {
  return isAlone ? ` by ${name}` : ''
}

/** Where two texts part. */
function apart(first: string, seen: string): string {
  const end = Math.max(first.length, seen.length)
  let at = 0
  while (at < end && first[at] === seen[at]) at += 1
  const excerpt = (text: string) => text.slice(Math.max(0, at - 80), at + 120)
  return `… ${excerpt(first)} …\n… ${excerpt(seen)} …`
}

/** Servers with words of their own say nothing of the pages of a list that they do not count. */
function isSamePage(first: string, seen: string): boolean {
  const { pagination: _, ...data } = JSON.parse(first)
  return JSON.stringify(data) === seen
}

function isRight({ status }: Work, response: Response): boolean {
  return status === undefined ? response.ok : response.status === status
}

/** Of what may differ between right answers: tokens, the order of members, ids and times of new records. */
function normalised(text: string, method: string): string {
  const isNew = method === 'PATCH' || text.includes('"SKU-NEW"')
  return JSON.stringify(JSON.parse(text), (name, value) => {
    if (name === 'nextCursor') return value === null ? null : 'a token'
    if (isNew && ['_id', 'createdAt', 'updatedAt'].includes(name)) return 'new'
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
