#!/usr/bin/env node
/**
 * `fieldgate-copy --from sqlite:atlas.db --to mongodb://127.0.0.1:27017/atlas --models ./models.js`
 *
 * @module
 */

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { copyRecords } from '../../src/copy/copy.ts'
import type { Model } from '../../src/model/model.ts'
import type { Store } from '../../src/ports/store.ts'
import { bar } from './command.ts'

const USAGE = `Copies all records of your models from one store to another.

  fieldgate-copy --from <store> --to <store> --models <module>

  <store>    sqlite:<file>, or a MongoDB URL: mongodb://host/database
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
    for (const result of await copyRecords(from, to, models, bar(process.stdout))) {
      console.log(
        `${result.collection}: ${result.target.toLocaleString('en')} records, ${result.copied.toLocaleString('en')} copied now, checksum ${result.checksum.slice(0, 16)} on both sides`,
      )
    }
  } finally {
    await from.close()
    await to.close()
  }
}

/** Opens a store by its address; the MongoDB driver is loaded only if it is needed. */
async function openStore(text: string): Promise<Store> {
  if (text.startsWith('sqlite:')) {
    const { sqliteStore } = await import('../stores/sqlite/node.ts')
    return sqliteStore({ path: text.slice('sqlite:'.length) })
  }
  if (/^mongodb(?:\+srv)?:/.test(text)) {
    const { mongoStore } = await import('../stores/mongodb/index.ts')
    return mongoStore({ url: text })
  }
  throw new Error(`'${text}' is not a store; write sqlite:<file> or mongodb://host/database`)
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
