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

/** As many keys and values as a body may have, less some for what stands around the value. */
const VALUES = 19_900

/** The texts that `item` makes, as many as a body has room for if each has so many keys and values. */
function filled(values: number, item: (at: number) => string): string {
  const items: string[] = []
  let room = ROOM
  for (let at = 0; at < VALUES / values; at += 1) {
    const next = item(at)
    room -= next.length + 1
    if (room < 0) break
    items.push(next)
  }
  return items.join()
}

const list = (values: number, item: (at: number) => string): string => `[${filled(values, item)}]`
const map = (values: number, item: (at: number) => string): string => `{${filled(values, item)}}`

const long = 'q'.repeat(40)

const deep = (levels: number, inside: string): string =>
  `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`

/** Values of a field, as JSON texts, by what makes them hard: the field that takes them, or that refuses them. */
export const shapes: Readonly<Record<string, { readonly field: string; readonly json: string }>> = {
  'digits for a number': { field: 'size', json: `"${'1'.repeat(ROOM)}x"` },
  'digits for a date': { field: 'at', json: `"2024-01-01T00:00:00.${'1'.repeat(ROOM)}"` },
  'one long text': { field: 'title', json: `"${'é'.repeat(ROOM / 2)}"` },
  'a text of combining marks': { field: 'title', json: `"${'\u0315\u0300'.repeat(ROOM / 4)}"` },
  escapes: { field: 'title', json: `"${'\\u00e9'.repeat(ROOM / 6)}"` },
  'more numbers than a body may have': {
    field: 'numbers',
    json: `[${'0,'.repeat(ROOM / 2 - 1)}0]`,
  },
  numbers: { field: 'numbers', json: list(1, () => '0') },
  'numbers as texts': { field: 'numbers', json: list(1, () => '"0"') },
  dates: { field: 'dates', json: list(1, () => '"2024-01-01T00:00:00Z"') },
  'dates as numbers': { field: 'dates', json: list(1, () => '0') },
  texts: { field: 'texts', json: list(1, (at) => `"${long}${at}"`) },
  'wrong elements': { field: 'texts', json: list(1, () => '1') },
  'elements that break two rules': { field: 'rules', json: list(1, (at) => `"${long}${at}"`) },
  objects: { field: 'rows', json: list(3, () => '{"a":1}') },
  'objects that lack every member': { field: 'wide', json: list(1, () => '{}') },
  'objects that are none of a union': { field: 'either', json: list(1, () => '{}') },
  'objects that are all different': {
    field: 'any',
    json: list(3, (at) => `{"${long}${at}":1}`),
  },
  'empty lists': { field: 'any', json: list(1, () => '[]') },
  'nested lists': { field: 'any', json: list(6, () => '[[[[[[]]]]]]') },
  deep: {
    field: 'any',
    json: deep(
      900,
      list(1.1, () => '0'),
    ),
  },
  'many keys': { field: 'map', json: map(2, (at) => `"${long}${at}":1`) },
  'wrong members': { field: 'map', json: map(2, (at) => `"${long}${at}":"a"`) },
  'many keys in many objects': {
    field: 'maps',
    json: list(5, (at) => `{"${at}":1,"${long}${at}":1}`),
  },
}

/** A server in a thread of its own. */
export interface PausedServer {
  readonly url: string
  /** What `work` gives, and the longest time in milliseconds that the server's event loop stood still meanwhile. */
  during<T>(work: () => Promise<T>): Promise<{ result: T; pause: number }>
  /** How many times as long as on the machine of our figures the server's thread takes now for the same work. */
  slowness(): Promise<number>
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
    async slowness() {
      worker.postMessage('slowness')
      return Number(await said())
    },
    close: () => worker.terminate(),
  }
}
