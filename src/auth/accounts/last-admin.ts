/**
 * At least one admin who may sign in remains, whoever demotes or removes whom at the same moment.
 *
 * What ends an admin is one write of the store, which also requires the record of another admin: of two admins who
 * demote each other, one is first, and the other finds that the admin on whom they rely is gone.
 *
 * @module
 */

import type { HttpError } from '../../http/errors.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import type { Fields, WriteAction } from '../../ports/store.ts'
import { type TakeSteps, writesTogether } from '../../records/engine/integrity.ts'
import { holds } from '../../records/engine/known-updates.ts'
import type { RecordEngine } from '../../records/engine/record-engine.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isDisabled, userById } from '../instance/user.ts'
import { hasRole } from '../setup/roles.ts'

/** Makes the refusal for when no admin would remain. */
type Refuse = () => HttpError

/** Writes by `engine` if the record still is as `expect` says; null if it is not. */
type Write<T> = (engine: RecordEngine, expect: Fields) => Promise<T | null>

/** Throws `refusal` if `user` is the last admin now. The write must check it again. */
export async function checkNotLast(
  auth: AuthInstance,
  user: Fields,
  refusal: Refuse,
): Promise<void> {
  if (isAdminNow(auth, user)) await anotherAdmin(auth, [String(user._id)], refusal)
}

/**
 * The result of `write`, after which `user` need not be an admin. Throws `refusal` if no other admin is left; null if
 * the record is gone, or a condition of the write's own does not hold.
 */
export async function keepingAnAdmin<T>(
  auth: AuthInstance,
  user: Fields,
  refusal: Refuse,
  write: Write<T>,
): Promise<T | null> {
  const { names, settings } = auth
  const fields = settings.disabledField ? [names.role, settings.disabledField] : [names.role]
  let found: Fields | undefined = user
  while (found) {
    const read: Fields = found
    // Also of one who is no admin: they may become one meanwhile, and the only one.
    const expect = Object.fromEntries(fields.map((field) => [field, read[field]]))
    const written = isAdminNow(auth, read)
      ? await endAdmin(auth, { id: String(user._id), expect, refusal }, write)
      : await write(auth.engine, expect)
    if (written !== null) return written
    found = await userById(auth, String(user._id))
    if (found && holds(found, expect)) return null
  }
  return null
}

/** The end of an admin. */
interface End {
  readonly id: string
  readonly expect: Fields
  readonly refusal: Refuse
}

async function endAdmin<T>(auth: AuthInstance, end: End, write: Write<T>): Promise<T | null> {
  return (await writesTogether(auth.host.database))
    ? write(requiringAnother(auth, end), end.expect)
    : auth.endingAdmins.after('', () => roleFirst(auth, end, write))
}

/** The engine, each write of which also requires another admin. */
function requiringAnother(auth: AuthInstance, { id, refusal }: End): RecordEngine {
  const { engine, host } = auth
  const take: TakeSteps = async (steps) => {
    for (const gone = [id]; ; ) {
      const other = await anotherAdmin(auth, gone, refusal)
      const action: WriteAction = { require: all([withId(other), admins(auth)]), exists: true }
      const required = { engine, action }
      // PostgreSQL locks one record after the other: if all do so in the same order, no two wait for each other. At the
      // end too, because the steps may remove the other admin.
      const before = other < id ? [required] : []
      const outcome = await host.integrity.write([...before, ...steps, required])
      if ('results' in outcome) return { results: outcome.results.slice(before.length, -1) }
      const failed = outcome.failed - before.length
      if (failed >= 0 && failed < steps.length) return { failed }
      gone.push(other)
    }
  }
  const one = async (action: WriteAction) => {
    const outcome = await take([{ engine, action }])
    return ('results' in outcome && outcome.results[0]?.records[0]) || null
  }
  const stored: RecordEngine['stored'] = {
    ...engine.stored,
    update: (update, change, options = {}) => one({ update, change, options }),
    delete: (filter, options = {}) => one({ delete: filter, options }),
  }
  const integrity = host.integrity.over(
    (model) => (model === engine.model ? requiring : host.engine(model)),
    take,
  )
  const requiring: RecordEngine = engine.over(stored, integrity)
  return requiring
}

/**
 * For a store that cannot write several records in one step: takes the role, looks for another admin, and gives it back
 * if there is none or the write fails. If two processes do so at once, both may be refused.
 */
async function roleFirst<T>(
  auth: AuthInstance,
  { id, expect, refusal }: End,
  write: Write<T>,
): Promise<T | null> {
  const none = { ...expect, ...withoutRole(auth) }
  const replaced = (set: Fields, before: Fields) =>
    auth.engine.stored.update(withId(id), { set }, { expect: before })
  await anotherAdmin(auth, [id], refusal)
  const role = { [auth.names.role]: expect[auth.names.role] }
  if (!(await replaced(withoutRole(auth), expect))) return null
  let written: T | null = null
  try {
    await anotherAdmin(auth, [id], refusal)
    written = await write(auth.engine, none)
    return written
  } finally {
    if (written === null) await replaced(role, withoutRole(auth))
  }
}

/** Whether `user` is an admin who may sign in, or was one until a moment ago and may become one again. */
function isAdminNow(auth: AuthInstance, user: Fields): boolean {
  const isAdmin = hasRole(user[auth.names.role], auth.settings.roles.admin)
  return (isAdmin || holds(user, withoutRole(auth))) && !isDisabled(auth, user)
}

/** Your app may leave a user without a role, who then never was an admin. */
const TAKEN = '(taken)'

/** The role of one whose role was taken; no route leaves it. */
function withoutRole({ names, settings }: AuthInstance): Fields {
  return { [names.role]: settings.roles.multiple ? [TAKEN] : TAKEN }
}

/** The id of an admin who may sign in, and is none of the users `gone`. */
async function anotherAdmin(
  auth: AuthInstance,
  gone: readonly string[],
  refusal: Refuse,
): Promise<string> {
  const others: Filter = { op: 'nin', field: '_id', values: gone }
  const other = await auth.engine.first(all([admins(auth), others]))
  if (!other) throw refusal()
  return String(other._id)
}

/** The admins who may sign in. */
function admins({ names, settings }: AuthInstance): Filter {
  const { disabledField, roles } = settings
  const role: Filter = { op: 'in', field: names.role, values: roles.admin }
  return disabledField ? all([role, { op: 'ne', field: disabledField, value: true }]) : role
}
