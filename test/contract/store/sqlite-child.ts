/**
 * What the tests of several processes run in each of them: `sqlite-child.ts <task> <path> <name> [libsql]`.
 *
 * @module
 */

import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { everything } from '../../../src/ports/store/filter.ts'

const [task = '', path = '', name = '', driver] = process.argv.slice(2)
const ROUNDS = 60

const opened = () =>
  driver === 'libsql' ? libsqlStore({ url: `file:${path}` }) : sqliteStore({ path })

const tasks: Readonly<Record<string, () => Promise<void>>> = { share, write, warn }
await tasks[task]?.()

/** Prepares, reads and writes beside another process that does the same. */
async function share(): Promise<void> {
  const store = opened()
  await store.prepare([people])
  const collection = store.collection(people)
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all([
      ...Array.from({ length: 5 }, (_, at) =>
        collection.insert({ _id: `${name}-${round}-${at}`, name, age: round }),
      ),
      collection.update({ op: 'eq', field: 'name', value: 'shared' }, { increment: { score: 1 } }),
      collection.count(everything),
      collection.find({ filter: everything, sort: [], limit: 5 }),
    ])
  }
  await store.close()
}

/** Writes until it is killed, and says which writes were answered. */
async function write(): Promise<void> {
  const store = opened()
  await store.prepare([people])
  const collection = store.collection(people)
  for (let round = 0; ; round += 1) {
    const ids = Array.from({ length: 4 }, (_, at) => `${name}-${round}-${at}`)
    await Promise.all(
      ids.map(async (_id) => {
        await collection.insert({ _id, name: 'x'.repeat(300), tags: [name] })
        process.stdout.write(`${_id}\n`)
      }),
    )
  }
}

/** Warns, after the store is loaded. */
async function warn(): Promise<void> {
  await sqliteStore().close()
  process.emitWarning('a warning of the application')
}
