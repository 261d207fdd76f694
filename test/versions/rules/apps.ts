/**
 * Apps over versions, and how records are written through their doors.
 *
 * @module
 */

import * as z from 'zod'
import { batch } from '../../../src/batch/index.ts'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  ref,
  type Store,
} from '../../../src/index.ts'
import { recordedLog } from '../../records/service.ts'
import { send } from '../evolution/apps.ts'
import { STATES, type Version } from './version.ts'

/** An app that runs. */
export interface Running {
  readonly version: Version
  readonly app: App
  readonly owner: Model
  readonly item: Model
}

export type Door = 'route' | 'store' | 'batch' | 'atomic'
export const DOORS: readonly [Door, ...Door[]] = ['route', 'route', 'store', 'batch', 'atomic']

export interface Write {
  readonly kind?: 'owner' | 'item'
  readonly id?: string
  /** A removal, if there are none. */
  readonly values?: Fields
}

export interface Answer {
  readonly status: number
  readonly data: unknown
}

/** Writes through a door. */
export function write(one: Running, door: Door, given: Write): Promise<Answer> {
  if (door === 'store' || door === 'atomic') return byCode(one, door, given)
  const { kind = 'item', id, values } = given
  const method = values ? (id ? 'PATCH' : 'POST') : 'DELETE'
  const path = `/${kind}s${id ? `/${id}` : ''}`
  return door === 'route'
    ? send(one.app, method, path, values)
    : inBatch(one.app, { method, path, ...(values && { body: values }) })
}

async function inBatch(app: App, operation: object): Promise<Answer> {
  const { status, data } = await send(app, 'POST', '/batch', { operations: [operation] })
  if (!Array.isArray(data)) return { status, data }
  const [first] = data as [{ status: number; body: { data: unknown } }]
  return { status: first.status, data: first.body.data }
}

async function byCode(
  { app, ...models }: Running,
  door: Door,
  { kind = 'item', id, values }: Write,
): Promise<Answer> {
  const given = Object.entries(values ?? {}).map(([at, to]) => [at, to ?? undefined])
  const work = (store: Pick<App['store'], 'collection'>): Promise<unknown> => {
    const records = store.collection(models[kind])
    if (id === undefined) return records.insert(Object.fromEntries(given))
    return values
      ? records.update(id, Object.fromEntries(given))
      : Promise.resolve(records.delete(id))
  }
  try {
    const data = await (door === 'store' ? work(app.store) : app.store.atomic((tx) => work(tx)))
    return { status: 200, data }
  } catch (error) {
    return { status: (error as { status?: number }).status ?? 500, data: String(error) }
  }
}

/** An app over a version. */
export function serve(version: Version, store: Store): Running {
  const owner = defineModel(version.owner, {
    ...{ fields: { name: z.string() }, collection: 'owners', changes: version.changes },
  } as never) as unknown as Model
  const item = itemOf(version)
  const app = createApp({ store, logger: recordedLog(), env: {} })
  const names = version.references.map(({ name }) => name)
  app.mount('/owners', createRouter({ model: owner, middlewares: [], blockedFields: [] }))
  const lists = { query: names, maxLimit: 1000 }
  app.mount(
    '/items',
    createRouter({ model: item, middlewares: [], blockedFields: [], ...lists } as never),
  )
  app.mount('/batch', batch())
  return { version, app, owner, item }
}

function itemOf(version: Version): Model {
  const { room, from, to, status, byDefault, references, transitions, initial } = version
  const state = z.enum(STATES)
  const fields = {
    ...{ title: z.string(), [room]: z.string().optional() },
    ...{ [from]: z.int().optional(), [to]: z.int().optional() },
    [status]: byDefault === undefined ? state.optional() : state.default(byDefault as 'a'),
    ...Object.fromEntries(
      references.map(({ name, to: kind, presence, onDelete, inList }) => {
        const one = ref(version[kind], onDelete && { onDelete })
        const reference = inList ? z.array(one) : one
        return [name, presence === 'optional' ? reference.optional() : reference]
      }),
    ),
  }
  const exclude = version.exclude.map(({ equal, where }) => ({
    ...{ equal, range: [from, to] as const, ...(where && { where }) },
  }))
  return defineModel(version.item, {
    ...{ fields, collection: 'items', renamed: version.renamed, changes: version.changes },
    ...(exclude.length > 0 && { exclude }),
    ...(transitions && { transitions: { [status]: transitions } }),
    ...(initial && { initial: { [status]: initial } }),
  } as never) as unknown as Model
}
