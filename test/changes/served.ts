/**
 * Apps over versions of one model.
 *
 * @module
 */

import { expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import {
  type App,
  type AppOptions,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  type Store,
} from '../../src/index.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { type BackfillResult, backfillRecords } from '../../src/upkeep/changes/backfill.ts'
import { type RecordedLog, recordedLog } from '../records/service.ts'

/** A version of the model: its fields, the options of `defineModel`, and those of its router. */
export interface Version {
  readonly fields: z.ZodRawShape
  readonly options?: object
  readonly search?: readonly string[]
  /** What lists can be filtered and sorted by. Default: everything that can. */
  readonly query?: readonly string[]
}

/** An app over one version of the model. */
export interface Served {
  readonly app: App
  readonly model: Model
  readonly log: RecordedLog
  /** The records of a list, without ids. */
  list(parameters?: string): Promise<Fields[]>
  call(method: string, path: string, body?: unknown): Promise<{ status: number; data: Fields }>
  backfill(): Promise<BackfillResult>
}

/** An app over a version, closed with the test. */
export function serve(
  open: () => Store,
  version: Version,
  options: Partial<AppOptions> = {},
): Served {
  const log = recordedLog()
  const model = modelOf(version)
  const app = createApp({ store: open(), logger: log, env: {}, ...options })
  onTestFinished(() => app.close())
  const fields = Object.keys(version.fields)
  const { query = fields.flatMap((field) => insideOf(field, version.fields[field])) } = version
  const router = {
    model,
    allowedFields: fields,
    query,
    sortableFields: query,
    middlewares: [],
    ...(version.search && { search: version.search }),
  }
  app.mount('/things', createRouter(router as never))
  app.mount('/lean', createRouter({ ...router, lean: true } as never))
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      }),
    )
    const { data, error } = (await response.json()) as { data: Fields; error?: string }
    return { status: response.status, data: data ?? { error } }
  }
  return {
    app,
    model,
    log,
    call: send,
    async list(parameters = '') {
      const { status, data } = await send('GET', `/things${parameters}`)
      expect([parameters, status, data]).toEqual([parameters, 200, expect.any(Array)])
      return (data as unknown as Fields[]).map(({ _id, ...rest }) => rest)
    },
    async backfill() {
      const { stored, history, database, schemas } = hostOf(app.store)
      // As the command does.
      await database.prepare(schemas())
      return backfillRecords({ models: [model], stored, history, database, schemas })
    },
  }
}

/** Opens another handle on an empty database each time. */
export type Database = () => Promise<() => Store>

/** What the old version of a model stores. */
export interface Old {
  readonly before: Version
  readonly stored: Fields
}

/** A database with one record of the old version. */
export async function started(database: Database, { before, stored }: Old) {
  const open = await database()
  const old = serve(open, before)
  const { status, data } = await old.call('POST', '/things', stored)
  expect(status).toBe(201)
  const { _id, ...rest } = data
  expect(rest).toEqual(stored)
  return { open, old, id: String(_id) }
}

/** The model of a version. */
export function modelOf({ fields, options }: Version): Model {
  const definition = { fields, collection: 'things', ...options }
  return defineModel('Thing', definition as never) as unknown as Model
}

/** What of a field can be filtered and sorted by. */
function insideOf(field: string, schema: unknown): string[] {
  if (schema instanceof z.ZodArray || schema instanceof z.ZodDefault) {
    return field === 'tags' || schema instanceof z.ZodArray ? [] : [field]
  }
  return schema instanceof z.ZodObject
    ? Object.keys(schema.shape).map((name) => `${field}.${name}`)
    : [field]
}
