/** Lists that are followed. It is loaded when it is used. */

import type { Failure } from '../sending/results.ts'
import type { Held } from '../sending/session.ts'
import { type ListGiven, responseTo } from './export.ts'
import { orderedBy } from './order.ts'
import type { Wanted } from './query.ts'

/** What is called while a list is followed. */
export interface LiveOptions<R = unknown> {
  /**
   * Called with the records of the list, in order: at first, and after each change. `position` is how far the log of changes has
   * been followed: the `changeId` of a write is not greater once the write has been seen. `numbers` are the sort keys whose
   * strings are integers, such as ids of an adopted table, if there are any.
   */
  readonly onChange: (records: R[], position: string, numbers?: readonly string[]) => void
  /**
   * Called when the list cannot be followed. With a status below 300, 408, 429 or 500 and more it is tried again; with
   * others, such as 401 and 403, it has ended.
   */
  readonly onError?: (error: Failure) => void
  /** Ends it. */
  readonly signal: AbortSignal
}

type Listed = Readonly<Record<string, unknown>> & { readonly _id: string }

/** How long to wait before a list is opened again, in milliseconds: longer after each failure. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
/** The server says something every 15 s. After a longer silence the connection is dead, whether or not the system knows. */
const SILENCE_MS = 45_000
/** Such as React Native's own, which has a response once all of it is there. */
const SILENT = {
  status: 0,
  message: `No response within ${SILENCE_MS / 1000} s. Live lists need a 'fetch' that streams responses.`,
}

/** Follows a list until the signal ends it, or the server refuses. */
export async function followed(
  _: string,
  [wanted, on]: [Wanted, LiveOptions<Listed>],
  first: ListGiven,
): Promise<void> {
  const { signal } = on
  let given = first
  const list = new FollowedList([wanted.sort ?? []].flat())
  let pause = FIRST_PAUSE_MS
  while (!signal.aborted) {
    const error = await followOnce(list, wanted, on, given)
    if (error && !isPassing(error)) return
    pause = error ? Math.min(2 * pause, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS
    // Who lost the server together doesn't come back at the same moment.
    await waited(pause * (1 - Math.random() / 2), signal)
    const call = given.send.call()
    const [mine, held] = [await given.call.held, await call.held]
    if (!mine || held?.id === mine.id || signal.aborted) continue
    if (userOf(held) !== userOf(mine)) {
      return on.onError?.({ status: 401, message: 'The session has ended.' })
    }
    // They have signed in again.
    given = { ...given, call }
  }
}

/** Whose tokens they are; for those that do not say it, the session. */
function userOf(held: Held | undefined): unknown {
  try {
    const [, claims = ''] = (held as Held).token.split('.')
    return JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))).sub ?? held?.id
  } catch {
    return held?.id
  }
}

/** Follows a list until the connection breaks; resolves to why there was none. */
async function followOnce(
  list: FollowedList,
  wanted: Wanted,
  { onChange, onError, signal }: LiveOptions<Listed>,
  given: ListGiven,
): Promise<Failure | undefined> {
  const { last } = list
  const headers = { ...wanted.headers, Accept: 'text/event-stream', 'Last-Event-ID': last }
  const silence = silenceOn(signal)
  const opened = await responseTo({ ...wanted, headers, signal: silence.signal }, given)
  if (!opened.ok) {
    silence.end()
    const error = silence.causeOf(opened.error)
    if (!signal.aborted) onError?.(error)
    return error
  }
  for await (const events of eventsOf(opened.data.body, silence)) {
    // Of what comes at once, the state after it is enough: each costs an order of the whole list.
    let isChanged = false
    for (const event of events) if (list.take(event)) isChanged = true
    if (isChanged) onChange(list.records(), list.position, ...list.numbers)
  }
  return undefined
}

/** Whether the list may be opened after all in a while: a proxy's page may have a status below 300. */
function isPassing({ status }: Failure): boolean {
  return status < 300 || status === 408 || status === 429 || status >= 500
}

/** The events of a response, as many as come at once. A connection that breaks ends them. */
async function* eventsOf(
  body: ReadableStream<Uint8Array> | null,
  { signal, begin, end }: ReturnType<typeof silenceOn>,
): AsyncGenerator<readonly ReturnType<typeof eventIn>[]> {
  const reader = body?.getReader()
  const cancel = () => void reader?.cancel().catch(() => {})
  // A `fetch` that calls the app itself does not end bodies with their signal.
  signal.addEventListener('abort', cancel)
  const decoder = new TextDecoder()
  let text = ''
  try {
    while (reader && !signal.aborted) {
      begin()
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n')
      text = blocks.pop() ?? ''
      if (!signal.aborted) yield blocks.map(eventIn)
    }
  } catch {
    // It is opened again.
  } finally {
    end()
    cancel()
  }
}

function eventIn(block: string) {
  // Patterns would take separators within strings for ends of lines.
  const lines = block.split('\n')
  const of = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length)
  return { event: of('event: ') ?? '', id: of('id: '), data: of('data: ') ?? 'null' }
}

/** Aborts what waits for the server when it has been silent for too long, or with the list. */
function silenceOn(ending: AbortSignal) {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let timer: ReturnType<typeof setTimeout>
  /** The server has just said something. */
  const begin = () => {
    clearTimeout(timer)
    timer = setTimeout(abort, SILENCE_MS)
  }
  begin()
  ending.addEventListener('abort', abort)
  return {
    signal: controller.signal,
    begin,
    causeOf: (error: Failure) => (controller.signal.aborted ? SILENT : error),
    end() {
      clearTimeout(timer)
      ending.removeEventListener('abort', abort)
    },
  }
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}

/** A list as it is by the events so far. */
class FollowedList {
  last: string | undefined
  /** The sort keys whose strings are integers, if there are any. */
  numbers: readonly [] | readonly [readonly string[]] = []
  readonly #sort: readonly string[]
  readonly #records = new Map<string, Listed>()

  constructor(sort: readonly string[]) {
    this.#sort = sort
  }

  /** Without what the server notices changed rules by. */
  get position(): string {
    return `${this.last}`.replace(/\..*/, '')
  }

  /** Whether the event changes the list. */
  take({ event, id, data }: ReturnType<typeof eventIn>): boolean {
    if (!/^(?:records|set|unset)$/.test(event)) return false
    this.last = id
    const { data: given, numbers } = JSON.parse(data) as {
      readonly data: Listed | Listed[]
      readonly numbers?: readonly string[]
    }
    const found = [given].flat()
    if (event === 'records') {
      this.#records.clear()
      this.numbers = numbers ? [numbers] : []
    }
    for (const one of found) {
      if (event === 'unset') this.#records.delete(one._id)
      else this.#records.set(one._id, one)
    }
    return true
  }

  records(): Listed[] {
    const records = [...this.#records.values()]
    return this.#sort.length === 0 ? records : records.sort(orderedBy(this.#sort, this.numbers[0]))
  }
}
