/**
 * Bodies of a mebibyte that are as much work as can be, and how long a server stands still over them.
 *
 * @module
 */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { FROM_SOURCE } from '../runtimes/commands.ts'

/** As many bytes as a JSON body may have, less some for what stands around the value. */
const ROOM: number = 1024 * 1024 - 300

/** A list of `item` that fills a body. */
function list(item: (at: number) => string): string {
  const items: string[] = []
  let room = ROOM
  for (let at = 0; ; at += 1) {
    const next = item(at)
    room -= next.length + 1
    if (room < 0) return `[${items.join(',')}]`
    items.push(next)
  }
}

const map = (keys: number, from: number): string =>
  `{${Array.from({ length: keys }, (_, at) => `"${(from + at).toString(36)}":1`).join(',')}}`

const deep = (levels: number, inside: string): string =>
  `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`

/** Values of a field, as JSON texts, by what makes them hard: the field that takes them, or that refuses them. */
export const shapes: Readonly<Record<string, { readonly field: string; readonly json: string }>> = {
  'digits for a number': { field: 'size', json: `"${'1'.repeat(ROOM)}x"` },
  'digits for a date': { field: 'at', json: `"2024-01-01T00:00:00.${'1'.repeat(ROOM)}"` },
  'one long text': { field: 'title', json: `"${'é'.repeat(ROOM / 2)}"` },
  'a text of combining marks': { field: 'title', json: `"${'\u0315\u0300'.repeat(ROOM / 4)}"` },
  escapes: { field: 'title', json: `"${'\\u00e9'.repeat(ROOM / 6)}"` },
  numbers: { field: 'numbers', json: list(() => '0') },
  'numbers as texts': { field: 'numbers', json: list(() => '"0"') },
  dates: { field: 'dates', json: list(() => '"2024-01-01T00:00:00Z"') },
  'dates as numbers': { field: 'dates', json: list(() => '0') },
  texts: { field: 'texts', json: list((at) => `"${at.toString(36)}"`) },
  'wrong elements': { field: 'texts', json: list(() => '1') },
  objects: { field: 'rows', json: list(() => '{"a":1}') },
  'objects that are all different': {
    field: 'any',
    json: list((at) => `{"${at.toString(36)}":1}`),
  },
  'empty lists': { field: 'any', json: list(() => '[]') },
  'empty objects': { field: 'any', json: list(() => '{}') },
  'nested lists': { field: 'any', json: list(() => '[[[[[[]]]]]]') },
  deep: {
    field: 'any',
    json: deep(
      900,
      list(() => '0'),
    ),
  },
  'many keys': { field: 'map', json: map(100_000, 36 ** 4) },
  'many keys in several objects': {
    field: 'maps',
    json: list((at) => map(9999, 36 ** 4 + at * 9999)),
  },
  'many keys in many objects': { field: 'maps', json: list((at) => map(20, 36 ** 4 + at * 20)) },
}

/** A server in a thread of its own. */
export interface PausedServer {
  readonly url: string
  /** What `work` gives, and the longest time in milliseconds that the server's event loop stood still meanwhile. */
  during<T>(work: () => Promise<T>): Promise<{ result: T; pause: number }>
  close(): Promise<unknown>
}

/** Starts `pauses-server.ts`. */
export async function pausedServer(): Promise<PausedServer> {
  const worker = new Worker(new URL('pauses-server.ts', import.meta.url), {
    execArgv: [FROM_SOURCE, '--disable-warning=ExperimentalWarning'],
  })
  const said = async (): Promise<unknown> => (await once(worker, 'message'))[0]
  const url = String(await said())
  return {
    url,
    async during(work) {
      worker.postMessage('begin')
      await said()
      const result = await work()
      worker.postMessage('end')
      return { result, pause: Number(await said()) }
    },
    close: () => worker.terminate(),
  }
}
