/**
 * Apps over versions, and how they are asked.
 *
 * @module
 */

import { deepStrictEqual } from 'node:assert'
import { batch } from '../../../src/batch/index.ts'
import {
  type App,
  type AppOptions,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  type Store,
} from '../../../src/index.ts'
import { type LiveEvent, Reading } from '../../records/live/stream.ts'
import { recordedLog } from '../../records/service.ts'
import { convertedTo, type Field, isScalar, schemaOf, type Version } from './version.ts'

/** An app that runs. */
export interface Running {
  readonly version: Version
  readonly app: App
  readonly model: Model
  /** The list as a client has it that follows it from the start. */
  readonly live: Map<string, Fields>
  /** The id of the last event of it. */
  last?: string | undefined
}

/** An app over a version. */
export function serve(
  version: Version,
  store: Store,
  { cache, now }: Required<Pick<AppOptions, 'cache' | 'now'>>,
): Running {
  const model = modelOf(version)
  const app = createApp({
    ...{ store, logger: recordedLog(), env: {}, cache, now },
  })
  const names = Object.keys(version.fields)
  const seen = Object.entries(version.fields).filter(([name]) => !version.hidden.includes(name))
  const paths = seen.flatMap(([name, field]) => pathsOf(name, field))
  const sortable = seen.filter(([, field]) => isScalar(field)).map(([name]) => name)
  const router = {
    ...{ model, middlewares: [], allowedFields: names, query: paths, sortableFields: sortable },
    search: version.search.filter((name) => !version.hidden.includes(name)),
    ...{ maxLimit: 1000, exportLimit: 1000, history: true, live: true },
    aggregates: { by: sortable, of: [] },
  }
  app.mount('/things', createRouter(router as never))
  // What tells versions apart is a part of the rules.
  app.mount('/ruled', createRouter({ ...router, fieldsFor: () => undefined } as never))
  app.mount('/kept', createRouter({ ...router, cache: true } as never))
  app.mount('/pages', createRouter({ ...router, pagination: 'cursor' } as never))
  app.mount('/batch', batch())
  return { version, app, model, live: new Map() }
}

/** Follows the list of `one`: as a client that goes on with what it has of another version, if there is one. */
export async function follow(one: Running, before?: Running): Promise<void> {
  const { app, live } = one
  const last = before?.last
  const headers = { accept: 'text/event-stream', ...(last && { 'last-event-id': last }) }
  if (last) for (const [id, doc] of before.live) live.set(id, doc)
  const reading = new Reading(await app.handle(new Request('http://localhost/ruled', { headers })))
  const take = (event: LiveEvent | undefined): boolean => {
    if (!event || event.event === 'end') return false
    one.last = event.id
    const { data } = event.data as { data: Fields | Fields[] }
    if (event.event === 'records') live.clear()
    for (const { _id, ...rest } of [data].flat()) {
      if (event.event === 'unset') live.delete(String(_id))
      else live.set(String(_id), rest)
    }
    return true
  }
  if (!last) take(await reading.next())
  void (async () => {
    while (take(await reading.next())) {}
  })().catch(() => {})
}

export function pathsOf(name: string, { kind, parts }: Field): string[] {
  return kind === 'obj' ? parts.map((part) => `${name}.${part}`) : [name]
}

function modelOf(version: Version): Model {
  const fields = Object.fromEntries(
    Object.entries(version.fields).map(([name, field]) => [name, schemaOf(field)]),
  )
  const convert = Object.entries(version.fields).flatMap(([name, field]) =>
    field.convert ? [[name, (value: unknown) => convertedBy(field, value)] as const] : [],
  )
  const definition = {
    ...{ fields, collection: 'things', renamed: version.renamed, unique: version.unique },
    ...{ indexes: version.indexes, hidden: version.hidden, timestamps: version.timestamps },
    ...{ convert: Object.fromEntries(convert), changes: true },
    ...(version.output && { output: (record: Fields) => ({ ...record, extra: 'x' }) }),
  }
  return defineModel('Thing', definition as never) as unknown as Model
}

function convertedBy(field: Field, value: unknown): unknown {
  return convertedTo(field, value instanceof Date ? value.toISOString() : value)
}

export async function send(
  app: App,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const response = await app.handle(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('application/json') && text !== ''
  const envelope = isJson
    ? (JSON.parse(text) as { data?: unknown; error?: string; pagination?: unknown })
    : {}
  return {
    ...{ status: response.status, text, etag: response.headers.get('etag') },
    ...{ data: envelope.data ?? envelope, pagination: envelope.pagination },
  }
}

export function isEqual(a: unknown, b: unknown): boolean {
  try {
    deepStrictEqual(a, b)
    return true
  } catch {
    return false
  }
}

export function same(got: unknown, expected: unknown, what: string): void {
  if (isEqual(got, JSON.parse(JSON.stringify(expected)))) return
  throw new Error(
    `${what}:\n  got      ${JSON.stringify(got)}\n  expected ${JSON.stringify(expected)}`,
  )
}
