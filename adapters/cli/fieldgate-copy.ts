#!/usr/bin/env node
/**
 * `fieldgate-copy --from sqlite:atlas.db --to mongodb://127.0.0.1:27017/atlas --models ./models.js`
 *
 * @module
 */

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { Model } from '../../src/model/model.ts'
import { copyWithBar, linesOf, openStore } from './stores.ts'

const USAGE = `Copies all records of your models from one store to another.

  fieldgate-copy --from <store> --to <store> --models <module>

  <store>    sqlite:<file>, mongodb://host/database or postgres://host/database[?schema=name]
  <module>   a module that exports the models, as your app defines them

Stop everything that writes to the source first. Run the command again to continue an interrupted copy.`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      models: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help || !values.from || !values.to || !values.models) {
    console.log(USAGE)
    process.exitCode = values.help ? 0 : 2
    return
  }
  const models = await modelsOf(values.models)
  const [from, to] = [await openStore(values.from), await openStore(values.to)]
  try {
    console.log(linesOf(await copyWithBar(from, to, models, process.stdout)))
  } finally {
    await from.close()
    await to.close()
  }
}

async function modelsOf(module: string): Promise<Model[]> {
  const exported: Record<string, unknown> = await import(pathToFileURL(resolve(module)).href)
  const models = Object.values(exported).filter(
    (value): value is Model => typeof value === 'object' && value !== null && 'shape' in value,
  )
  if (models.length === 0) throw new Error(`'${module}' exports no model`)
  return models
}

await main().catch((error: Error) => {
  console.error(`fieldgate-copy: ${error.message}`)
  process.exitCode = 1
})
