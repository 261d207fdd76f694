/**
 * Notes behind guards and hooks that treat a request as one of Express.
 *
 * @module
 */

import * as z from 'zod'
import {
  createRouter,
  defineModel,
  type Model,
  type RouterOptions,
  type Values,
} from '../../../src/index.ts'
import { type Answer, type Service, service } from '../service.ts'

/** What guards of JavaScript get: no type says that `body` is a stream. */
// biome-ignore lint/suspicious/noExplicitAny: the habits that these tests show do not compile otherwise.
export type Loose = any

const fields = { text: z.string(), owner: z.string().optional() }
/** A note. */
export const Note: Model<Values<typeof fields>> = defineModel('Note', { fields })

type Options = Partial<RouterOptions<{ text: string; owner?: string | undefined }>>

/** A service with notes at `/notes`. */
export function notes(options: Options = {}): Service {
  const on = service()
  on.app.mount(
    '/notes',
    createRouter({ model: Note, query: ['text', 'owner'], middlewares: [], ...options } as Loose),
  )
  return on
}

/** Writes a note of somebody else's. */
export const post = (on: Service): Promise<Answer> =>
  on.send('POST', '/notes?text=a&text=b', { json: { text: 'x', owner: 'you' } })
