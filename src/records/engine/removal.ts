/**
 * The removal of a record that others refer to: what depends on it is looked up first, then it is one atomic write, which
 * checks that what was found is still so, and is planned again if it is not.
 */

import { stillReferenced, tooManyDependents } from '../../http/errors/refusals.ts'
import { withoutIds } from '../../model/enforced-references.ts'
import type { Model } from '../../model/model.ts'
import type { OnDelete } from '../../model/shape/reference.ts'
import { all, any, type Filter, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { StoreUnavailable } from '../../ports/store/store-errors.ts'
import { topOf } from '../../ports/values/paths.ts'
import type { Dependent, Engine, EngineStep, Integrity } from './integrity.ts'
import { MAX_TRIES, pause } from './serial-queue.ts'

export interface Removed {
  readonly model: Model
  readonly record: Fields
}

export interface Removal {
  readonly record: Fields
  /** The records that referred to it, and those that referred to them, as `cascade` asks. */
  readonly others: readonly Removed[]
}

/** The most records that one removal removes or changes besides its own. */
export const MAX_DEPENDENTS = 1000

/** Removes what matches, with what depends on it; null if there is none as `expect` says. Throws a 409 if forbidden. */
export async function removeKept(
  integrity: Integrity,
  engine: Engine,
  filter: Filter,
  expect: Fields | undefined,
): Promise<Removal | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const found = await engine.first(filter)
    if (!found) return null
    const id = String(found._id)
    const { author } = engine
    const plan: readonly EngineStep[] = [
      {
        engine,
        action: { delete: all([filter, withId(id)]), ...(expect && { options: { expect } }) },
      },
      ...(await dependentSteps(integrity, engine, id)),
    ]
    const steps = plan.map((step) => ({ ...step, author }))
    const outcome = await integrity.write(steps)
    if ('results' in outcome) {
      const removed = outcome.results.flatMap(({ records }, at) => {
        const step = steps[at]
        const isRemoval = step && ('delete' in step.action || 'deleteMany' in step.action)
        return isRemoval ? records.map((record) => ({ model: step.engine.model, record })) : []
      })
      const [first, ...others] = removed
      return first ? { record: first.record, others } : null
    }
    if (outcome.failed === 0) return null
    await pause(tries)
  }
  throw new StoreUnavailable(
    `what refers to a record of '${engine.model.name}' changed all the time`,
  )
}

/** The steps that follow a removal. Throws a 409 if a reference forbids it, or too many records depend on it. */
export async function dependentSteps(
  integrity: Integrity,
  engine: Engine,
  id: string,
): Promise<readonly EngineStep[]> {
  return new Plan(integrity).follow(engine.model, id)
}

/** What goes with one record. */
class Plan {
  readonly #integrity: Integrity
  /** The ids that go, in the order in which they were found: by model, as who writes has an engine of their own. */
  readonly #going = new Map<Model, Set<string>>()
  /** Before the removals: what was found still has to go. */
  readonly #checks: EngineStep[] = []
  readonly #removals: EngineStep[] = []
  /** After the removals: nothing refers to what is gone. */
  readonly #rest: EngineStep[] = []
  #count = 0

  constructor(integrity: Integrity) {
    this.#integrity = integrity
  }

  /** Finds what goes with a record, then what stays but refers to it; resolves to all steps, in order. */
  async follow(first: Model, id: string): Promise<readonly EngineStep[]> {
    this.#going.set(first, new Set([id]))
    const queue = [{ model: first, ids: [id] }]
    for (const { model, ids } of queue) {
      for (const dependent of this.#dependents(model, 'cascade')) {
        const fresh = await this.#cascade(dependent, ids)
        if (fresh.length > 0) queue.push({ model: dependent.engine.model, ids: fresh })
      }
    }
    const going = [...this.#going]
    const left = (onDelete: OnDelete): Left[] =>
      going.flatMap(([model, ids]) =>
        this.#dependents(model, onDelete).map((dependent) => ({ ...dependent, ids })),
      )
    for (const { engine, reference, ids } of left('restrict')) {
      const filter = refersTo(reference.path, ids)
      const found = await engine.first(all([filter, this.#staying(engine)]))
      if (found) throw stillReferenced(engine.model.name)
      this.#rest.push({ engine, action: { require: filter, exists: false } })
    }
    const { inLists = [], alone = [] } = Object.groupBy(left('unset'), ({ reference }) =>
      reference.inList ? 'inLists' : 'alone',
    )
    // First: they expect the whole value of a field, which the others may be a part of.
    const fields = Map.groupBy(inLists, ({ engine, reference }) => {
      return `${engine.model.name} ${topOf(reference.path)}`
    })
    for (const some of fields.values()) await this.#unsetInList(some)
    for (const one of alone) await this.#unset(one)
    return [...this.#checks, ...this.#removals, ...this.#rest]
  }

  #dependents(model: Model, onDelete: OnDelete): readonly Dependent[] {
    return this.#integrity.to(model).filter(({ reference }) => reference.onDelete === onDelete)
  }

  /** Resolves to the ids of the records that go with `ids` and were not known to. */
  async #cascade({ engine, reference }: Dependent, ids: readonly string[]): Promise<string[]> {
    const filter = refersTo(reference.path, ids)
    const found = (await this.#found(engine, filter, ['_id'])).map(({ _id }) => String(_id))
    const going = this.#going.get(engine.model) ?? new Set()
    const fresh = found.filter((id) => !going.has(id))
    this.#going.set(engine.model, new Set([...going, ...fresh]))
    this.#counted(fresh.length)
    if (this.#integrity.to(engine.model).length === 0) {
      // Nothing refers to these records, so that whichever there are at the moment of the write may go.
      this.#removals.push({ engine, action: { deleteMany: filter } })
      return []
    }
    const known: Filter = { op: 'in', field: '_id', values: found }
    const others: Filter = { op: 'nin', field: reference.path, values: ids }
    this.#checks.push({ engine, action: { require: all([known, others]), exists: false } })
    this.#removals.push({ engine, action: { deleteMany: known } })
    this.#rest.push({ engine, action: { require: filter, exists: false } })
    return fresh
  }

  async #unset({ engine, reference, ids }: Left): Promise<void> {
    const { path, emptied } = reference
    const filter = refersTo(path, ids)
    const found = await this.#found(engine, all([filter, this.#staying(engine)]), ['_id'])
    this.#counted(found.length)
    const change =
      emptied === 'null' ? engine.changeOf({ [path]: null }) : engine.changeOf({}, [path])
    this.#rest.push({ engine, action: { updateMany: filter, change } })
  }

  /** Removes the ids from lists inside one field: from each record, if the field is still as it was found. */
  async #unsetInList(some: readonly Left[]): Promise<void> {
    const [first] = some
    if (!first) return
    const { engine } = first
    const field = topOf(first.reference.path)
    const filter = any(some.map(({ reference, ids }) => refersTo(reference.path, ids)))
    const found = await this.#found(engine, all([filter, this.#staying(engine)]), [field])
    this.#counted(found.length)
    for (const record of found) {
      const value = some.reduce(
        (before, { reference, ids }) => withoutIds(before, reference, ids),
        record[field],
      )
      const update = withId(String(record._id))
      const options = { expect: { [field]: record[field] } }
      this.#rest.push({
        engine,
        action: { update, change: engine.changeOf({ [field]: value }), options },
      })
    }
    this.#rest.push({ engine, action: { require: filter, exists: false } })
  }

  #staying({ model }: Engine): Filter {
    return { op: 'nin', field: '_id', values: [...(this.#going.get(model) ?? [])] }
  }

  #found(engine: Engine, filter: Filter, include: readonly string[]): Promise<Fields[]> {
    const limit = MAX_DEPENDENTS + 1
    return engine.stored.find({ filter, sort: [], limit, select: { include } })
  }

  #counted(more: number): void {
    this.#count += more
    if (this.#count > MAX_DEPENDENTS) throw tooManyDependents(MAX_DEPENDENTS)
  }
}

/** A reference to records that go, of records that may stay. */
interface Left extends Dependent {
  readonly ids: ReadonlySet<string>
}

function refersTo(field: string, ids: Iterable<string>): Filter {
  return { op: 'in', field, values: [...ids] }
}
