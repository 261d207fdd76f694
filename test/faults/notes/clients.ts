/**
 * Clients of a server of notes: they create, change and delete until they are told to stop, and keep the ledger.
 *
 * @module
 */

import type { Ledger, StoredNote } from './ledger.ts'

/** What came back for one request; `undefined` where nothing did. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: { readonly data?: StoredNote; readonly error?: string }
}

/** How clients behave. */
export interface ClientOptions {
  readonly count: number
  /** Where the next request goes. */
  readonly url: () => string
  readonly ledger: Ledger
  readonly signal: AbortSignal
  /** Whether a 503 says that nothing was written, as SQLite's does. Else the write may have happened. */
  readonly refusalIsCertain: boolean
  /** How many notes a client keeps; it creates no more. Default 20. */
  readonly most?: number
  /** Characters that each label has more, so that notes take room. Default 0. */
  readonly padding?: number
  /** Hears every reply that was no success, `undefined` where none came, and how long it took. */
  readonly onFailure?: (reply: Reply | undefined, ms: number) => void
}

/** Sends one request with a JSON body or a form; `undefined` where no response came. */
export async function send(
  method: string,
  url: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply | undefined> {
  const json = {
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  const content = body instanceof FormData ? { body } : body && json
  try {
    const response = await fetch(url, { method, ...content })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Reply['body'],
    }
  } catch {
    return undefined
  }
}

/** Writes until the signal. Each client has a few notes of its own, so that none has to be searched for. */
export async function keepWriting(options: ClientOptions): Promise<void> {
  await Promise.all(Array.from({ length: options.count }, () => client(options)))
}

async function client(options: ClientOptions): Promise<void> {
  const { most = 20, padding = 0 } = options
  const mine: { readonly id: string; readonly label: string }[] = []
  while (!options.signal.aborted) {
    const dice = Math.random()
    const at = Math.floor(Math.random() * mine.length)
    const note = mine[at]
    if (!note || (dice < 0.4 && mine.length < most)) {
      const label = crypto.randomUUID() + 'x'.repeat(padding)
      const reply = await write(options, 'POST', '', label, options.ledger.newValue())
      if (reply?.body.data) mine.push({ id: reply.body.data._id, label })
    } else if (dice < 0.75) {
      await write(options, 'PATCH', note.id, note.label, options.ledger.newValue())
    } else {
      mine.splice(at, 1)
      await write(options, 'DELETE', note.id, note.label)
    }
  }
}

/** One write, noted in the ledger before it is sent and when it is answered. */
async function write(
  { url, ledger, refusalIsCertain, onFailure }: ClientOptions,
  method: 'POST' | 'PATCH' | 'DELETE',
  id: string,
  label: string,
  n?: number,
): Promise<Reply | undefined> {
  ledger.sent(label, n)
  const startedAt = performance.now()
  const body = { POST: { label, n }, PATCH: { n }, DELETE: undefined }[method]
  const reply = await send(method, `${url()}/notes/${id}`, body)
  if (reply && reply.status < 300) ledger.acknowledge(label, n)
  else {
    if (reply && refusalIsCertain) ledger.refused(label, n)
    onFailure?.(reply, performance.now() - startedAt)
  }
  return reply
}

interface Page {
  readonly data: readonly StoredNote[]
  readonly pagination: { readonly nextCursor: string | null }
}

/** All notes, in the order of their ids. */
export async function allNotes(url: string): Promise<StoredNote[]> {
  const notes: StoredNote[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor && `&cursor=${cursor}`
    const response = await fetch(`${url}/notes?pageSize=2000${query}`)
    if (!response.ok) throw new Error(`GET /notes: ${response.status} ${await response.text()}`)
    const { data, pagination } = (await response.json()) as Page
    notes.push(...data)
    cursor = pagination.nextCursor
  }
  return notes
}
