/** The look at start-up: which models have changed since their records were stored. */

import { enforcedReferences } from '../../model/enforced-references.ts'
import type { Model } from '../../model/model.ts'
import { firstIn } from '../../ports/evaluation/walk.ts'
import { any, type Filter } from '../../ports/store/filter.ts'
import type { Collection, Store } from '../../ports/store/store.ts'
import { topOf } from '../../ports/values/paths.ts'
import { checkRecords } from '../check/check.ts'
import { tableOf } from '../check/table.ts'
import type { ChangedModel, ModelHistory } from './model-history.ts'
import { refuseOverlaps } from './overlaps.ts'

export interface Look {
  readonly database: Store
  readonly models: {
    known(): Iterable<Model>
    stored(model: Model): Collection
    engine(model: Model): { readonly stored: Collection }
  }
  readonly history: ModelHistory
  readonly mode: 'warn' | 'refuse'
  readonly warn: (message: string) => void
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** For how long a refusal holds before the records are checked again: each request tries a failed start-up anew. */
const REFUSED_MS = 60_000

/**
 * Returns the look. It warns of changed models, or rejects if their records do not fit. It rejects, too, while records
 * hold under an earlier name what one record or value is judged by beside another: no index would stop a second record
 * with the same value, and an earlier version of the app would judge without what this one has moved.
 */
export function changeLook({
  database,
  models,
  history,
  mode,
  warn,
  now,
}: Look): () => Promise<void> {
  let refused: { readonly error: Error; readonly until: number } | undefined

  async function refuseMisfits(changed: readonly ChangedModel[]): Promise<void> {
    if (refused && now() < refused.until) throw refused.error
    const all = changed.map(({ model }) => model)
    const { ok, problems } = await checkRecords(database, all)
    if (!ok) {
      const error = new Error(
        `The app does not start because of onModelChange: 'refuse', as these records do not fit the models:\n${tableOf(problems)}`,
      )
      refused = { error, until: now() + REFUSED_MS }
      throw error
    }
    for (const model of all) await history.accept(model)
  }

  async function changedModels(all: readonly Model[]): Promise<ChangedModel[]> {
    try {
      return await history.changed(all, models.stored, warn)
    } catch (error) {
      // Whoever only warns must not keep an app from starting.
      if (mode === 'refuse') throw error
      warn(`Whether models have changed since their records were stored is unknown: ${error}`)
      return []
    }
  }

  return async () => {
    const all = [...models.known()]
    for (const model of all) await refuseFormer(model, models.stored(model))
    for (const model of all) await refuseOverlaps(model, models.engine(model).stored, history)
    const changed = await changedModels(all)
    if (mode === 'refuse' && changed.length > 0) return refuseMisfits(changed)
    for (const { model, fields } of changed) {
      warn(
        `Model '${model.name}' has changed since its records were stored: ${fields.join(', ')}. 'npx fieldgate check <file>' tells which records do not fit; <file> is the one that exports your app. Once all fit, 'npx fieldgate backfill <file>' ends this warning.`,
      )
    }
  }
}

async function refuseFormer(model: Model, stored: Collection): Promise<void> {
  const enforced = enforcedReferences(model).map(({ path }) => path)
  const moves = (model.transitions ?? []).map(({ field }) => field)
  const excluding = (model.exclude ?? []).flatMap(({ equal, range, where }) => [
    ...equal,
    ...range,
    ...Object.keys(where),
  ])
  const kept = new Set([...model.unique.flat(), ...enforced, ...moves, ...excluding].map(topOf))
  const former = [...model.renamed].filter(([, now]) => kept.has(now))
  if (former.length === 0) return
  const under = any(former.map(([old]): Filter => ({ op: 'ne', field: old, value: null })))
  if (!(await firstIn(stored, under))) return
  const names = former.map(([old, now]) => `'${now}' as '${old}'`).join(', ')
  throw new Error(
    `Model '${model.name}': records still hold ${names}. What is unique, or has 'onDelete', 'exclude' or 'transitions', can't be kept under two names. Stop what writes to the records and run 'npx fieldgate backfill <file>' before you start the app; <file> is the one that exports it.`,
  )
}
