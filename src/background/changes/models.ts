/**
 * The models that a consumer has. While a new version of an app adds one, a process of the old version may still deliver for the
 * consumer, and pass its changes. So a model that is added has a position of its own, until it has caught up with the others.
 */

import { firstIn } from '../../ports/evaluation/walk.ts'
import { withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection } from '../../ports/store/store.ts'

/** Models by their names: null, or up to where their changes are done or held. */
type Known = Readonly<Record<string, string | null>>

/** What is kept of the models of one consumer, in the record with the id `id`. */
export class ConsumedModels {
  readonly #records: Collection
  readonly #id: string
  readonly #names: () => readonly string[]

  constructor(records: Collection, id: string, names: () => readonly string[]) {
    this.#records = records
    this.#id = id
    this.#names = names
  }

  /** Notes those that are new, which begin at `position`; of a new consumer, all are as far as it. */
  async add(position: string): Promise<void> {
    await this.#note((known, isNew) => {
      const at = (name: string) => known[name] ?? (isNew || name in known ? null : position)
      return Object.fromEntries(this.#names().map((name) => [name, at(name)]))
    })
  }

  /** Those that were added and have not caught up, with where they are. */
  async added(): Promise<ReadonlyMap<string, string>> {
    const known = knownIn(await this.#read())
    const found = this.#names().map((name) => [name, known[name] ?? null] as const)
    return new Map(found.flatMap(([name, at]) => (at === null ? [] : [[name, at] as const])))
  }

  /** `names` are done up to `position`, or as far as the others. */
  async reached(names: Iterable<string>, position: string | null): Promise<void> {
    // A process that stood still may tell late how far it was: what is further stays.
    const at = (before: string | null | undefined) =>
      before === null || (position !== null && before && before > position) ? before : position
    await this.#note((known) =>
      Object.fromEntries([...names].map((name) => [name, at(known[name])])),
    )
  }

  async #note(changed: (known: Known, isNew: boolean) => Known): Promise<void> {
    for (;;) {
      const found = await this.#read()
      const before = knownIn(found)
      const models = JSON.stringify({ ...before, ...changed(before, found.models === undefined) })
      if (models === found.models) return
      const expect = { models: found.models }
      // Another process may note others at this moment.
      if (await this.#records.update(withId(this.#id), { set: { models } }, { expect })) return
    }
  }

  async #read(): Promise<Fields> {
    return (await firstIn(this.#records, withId(this.#id))) ?? {}
  }
}

function knownIn({ models }: Fields): Known {
  return typeof models === 'string' ? (JSON.parse(models) as Known) : {}
}
