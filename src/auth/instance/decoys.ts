/**
 * Decoys: writes made where a known account would be written and this one is not, so that timing does not reveal who
 * has an account. A database that finds nothing to change replies sooner, so a decoy really changes something: records
 * that look like accounts, in a collection with the schema of the accounts'.
 *
 * @module
 */

import { outageIn } from '../../http/outages.ts'
import type { Model } from '../../model/model.ts'
import { all, any, everything, type Filter, withId } from '../../ports/filter.ts'
import type { Logger } from '../../ports/logger.ts'
import { type Change, type Collection, DuplicateKey, type Fields } from '../../ports/store.ts'
import { CODE_KINDS, codeFields } from '../setup/code-fields.ts'
import type { AuthSettings } from '../setup/settings.ts'

/** Writes that nothing reads. */
export interface Decoys {
  /** One write like a write to an account; similar to `like` if given. */
  write(like?: DecoyStep): Promise<void>
}

/** A conditional change of an account. */
export interface DecoyStep {
  readonly filter: Filter
  readonly change: Change
}

/** The account used for an unknown name, so that the steps of a known account are taken too. */
export const NOBODY: Fields = { _id: '' }

/** Several, because writes to one record wait for each other. */
const RECORDS = 16

/** The decoys in `collection`, which has the schema of the accounts'. */
export function decoys(collection: Collection, settings: AuthSettings, logger: Logger): Decoys {
  const plain = {
    filter: everything,
    change: { increment: { [settings.names.failedLoginAttempts]: 1 } },
  }
  const written = async ({ filter, change }: DecoyStep): Promise<void> => {
    const id = idOf(settings.model, Math.floor(Math.random() * RECORDS))
    // The condition is evaluated, but always true.
    const asked = any([filter, { op: 'ne', field: '_id', value: null }])
    if (!(await collection.update(all([withId(id), asked]), change))) {
      await collection.insert(record(settings, id))
    }
  }
  return {
    async write(step = plain) {
      try {
        await written(step)
      } catch (error) {
        if (error instanceof DuplicateKey) return
        // An outage affects real accounts too; a failure of decoys alone must not tell them apart.
        if (outageIn(error)) throw error
        logger.error('a decoy could not be written', { error: String(error) })
      }
    },
  }
}

function idOf({ idType }: Model, number: number): string {
  const hex = number.toString(16).padStart(12, '0')
  return idType === 'uuid' ? `00000000-0000-4000-8000-${hex}` : `000000000000${hex}`
}

const FILLERS = { string: 'x'.repeat(55), number: 0, date: new Date(0) }

/** A record with as much data as an account that has signed in and has requested codes. */
function record({ names, model, identifiers, roles }: AuthSettings, _id: string): Fields {
  const at = new Date(0)
  const session = {
    id: 'x'.repeat(22),
    hash: 'x'.repeat(55),
    createdAt: at,
    lastUsedAt: at,
    expiresAt: at,
    userAgent: 'x'.repeat(100),
  }
  const values: Fields = {
    ...Object.fromEntries(identifiers.map(({ field }) => [field, `${_id}@decoy.invalid`])),
    [names.password]: 'x'.repeat(100),
    [names.role]: roles.default,
    [names.refreshTokens]: [session],
    [names.failedLoginAttempts]: 0,
    [names.passwordChangedAt]: at,
    ...Object.fromEntries(
      CODE_KINDS.flatMap(codeFields).map(([name, type]) => [names[name], FILLERS[type]]),
    ),
    createdAt: at,
    updatedAt: at,
  }
  const kept = Object.entries(values).filter(([field]) => model.shape.fields.has(field))
  return { _id, ...Object.fromEntries(kept) }
}
