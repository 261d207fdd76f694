#!/usr/bin/env node
/**
 * `fieldgate-copy --from sqlite:atlas.db --to mongodb://127.0.0.1:27017/atlas --models ./models.js`
 *
 * @module
 */

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Model } from '../../src/model/model.ts'
import { argumentsIn } from './arguments.ts'
import { copy, linesOf, lossesOf } from './copying.ts'
import { checkAddress, checkSource, openStore, STORES } from './stores.ts'
import { checkThere, closing, end, Unusable } from './unusable.ts'

const USAGE = `Copies all records of your models from one store to another.

  fieldgate-copy --from <store> --to <store> --models <module> [--convert]

  ${STORES}
  <module>  a module that exports the models, as your app defines them
  --convert copy values that the target can't hold as something else

Stop everything that writes to the source first. Run the command again to continue an interrupted copy.`

async function main(): Promise<number> {
  const { values } = argumentsIn({
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      models: { type: 'string' },
      convert: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const { from, to, convert } = values
  if (values.help || !from || !to || !values.models) {
    console.log(USAGE)
    return values.help ? 0 : 2
  }
  checkSource('--from', from)
  checkAddress('--to', to)
  const models = await modelsOf(values.models)
  const { ok, collections, lost, error } = await closing(async (keep) =>
    copy({
      from: keep(await openStore(from)),
      to: async () => keep(await openStore(to)),
      ...{ models, convert, stream: process.stdout },
    }),
  )
  if (lost.length > 0 && !convert) console.log(lossesOf(lost))
  if (!ok) throw new Error(error)
  console.log(linesOf(collections))
  return 0
}

async function modelsOf(module: string): Promise<Model[]> {
  checkThere(module)
  const exported: Record<string, unknown> = await import(pathToFileURL(resolve(module)).href)
  const models = Object.values(exported).filter(
    (value): value is Model => typeof value === 'object' && value !== null && 'shape' in value,
  )
  if (models.length === 0) throw new Error(`'${module}' exports no model`)
  return models
}

await end(
  main().catch((error: Error) => {
    console.error(`fieldgate-copy: ${error.message}`)
    return error instanceof Unusable ? 2 : 1
  }),
)
