/**
 * Models that are there beside the products.
 *
 * @module
 */

import process from 'node:process'
import * as z from 'zod'
import { type App, createRouter, defineModel } from '../../src/index.ts'

/** Mounts as many models as `BENCH_MODELS` says, but for the one that comes after them. */
export function mountOthers(app: App): void {
  const count = Number(process.env.BENCH_MODELS ?? 1) - 1
  for (let at = 0; at < count; at += 1) {
    const model = defineModel(`Model${at}`, { fields: { name: z.string() }, timestamps: true })
    const options = { model, middlewares: [], query: ['name'], allowedFields: ['name'] } as const
    app.mount(`/model-${at}`, createRouter(options))
  }
}
