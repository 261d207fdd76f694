/**
 * At least one admin who may sign in remains, whoever demotes or removes whom at the same moment.
 *
 * What ends an admin is one write of the store, which also requires the record of another admin: of two admins who
 * demote each other, one is first, and the other finds that the admin on whom they rely is gone.
 */

import type { HttpError } from '../../http/errors/errors.ts'
import { all, type Filter, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { WriteAction } from '../../ports/store/store.ts'
import { type TakeSteps, writesTogether } from '../../records/engine/integrity.ts'
import { holds } from '../../records/engine/known-updates.ts'
import type { RecordEngine } from '../../records/engine/record-engine.ts'
import { writingBySteps } from '../../records/engine/stepwise.ts'
import type { Auth } from '../instance/instance.ts'
import { hasRole } from '../setup/roles.ts'

/** Makes the refusal for when no admin would remain. */
type Refuse = () => HttpError

/** Writes by `engine` if the record still is as `expect` says; null if it is not. */
type Write<T> = (engine: RecordEngine, expect: Fields) => Promise<T | null>

/** Throws `refusal` if `user` is the last admin now. The write must check it again. */
export async function checkNotLast(auth: Auth, user: Fields, refusal: Refuse): Promise<void> {
  if (isAdminNow(auth, user)) await anotherAdmin(auth, [String(user._id)], refusal)
}

/**
 * The result of `write`, after which `user` need not be an admin. Throws `refusal` if no other admin is left; null if
 * the record is gone, or a condition of the write's own does not hold.
 */
export async function keepingAnAdmin<T>(
  auth: Auth,
  user: Fields,
  refusal: Refuse,
  write: Write<T>,
): Promise<T | null> {
  const { users, settings, names } = auth
  const fields = [names.role, settings.disabledField].filter((field) => field !== undefined)
  let read: Fields | undefined = user
  while (read) {
    const now: Fields = read
    // Also of one who is no admin: they may become one meanwhile, and the only one.
    const expect = Object.fromEntries(fields.map((field) => [field, now[field]]))
    const written = isAdminNow(auth, now)
      ? await endAdmin(auth, { id: String(user._id), expect, refusal, write })
      : await write(users.engine, expect)
    if (written !== null) return written
    read = await users.byId(user._id)
    if (read && holds(read, expect)) return null
  }
  return null
}

interface End<T> {
  readonly id: string
  readonly expect: Fields
  readonly refusal: Refuse
  readonly write: Write<T>
}

async function endAdmin<T>(auth: Auth, end: End<T>): Promise<T | null> {
  return (await writesTogether(auth.host.database))
    ? end.write(requiringAnother(auth, end), end.expect)
    : auth.endingAdmins.after('', () => roleFirst(auth, end))
}

/** The engine, each write of which also requires another admin. */
function requiringAnother(auth: Auth, { id, refusal }: End<unknown>): RecordEngine {
  const { host } = auth
  const { engine } = auth.users
  const take: TakeSteps = async (steps) => {
    for (const gone = [id]; ; ) {
      const other = await anotherAdmin(auth, gone, refusal)
      const action: WriteAction = { require: all([withId(other), adminsOf(auth)]), exists: true }
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
  const writing = writingBySteps((action) => take([{ engine, action }]))
  const integrity = host.integrity.over(
    (model) => (model === engine.model ? requiring : host.engine(model)),
    take,
  )
  const requiring: RecordEngine = engine.over({ ...engine.stored, ...writing }, integrity)
  return requiring
}

/**
 * For a store that cannot write several records in one step: takes the role, looks for another admin, and gives it back
 * if there is none or the write fails. If two processes do so at once, both may be refused.
 */
async function roleFirst<T>(auth: Auth, end: End<T>): Promise<T | null> {
  const { id, expect, refusal, write } = end
  const { users } = auth
  const taken = withoutRole(auth)
  await anotherAdmin(auth, [id], refusal)
  if (!(await users.update(id, { set: taken, expect }))) return null
  let written: T | null = null
  try {
    await anotherAdmin(auth, [id], refusal)
    written = await write(users.engine, { ...expect, ...taken })
    return written
  } finally {
    const { role } = users.names
    if (written === null) await users.update(id, { set: { [role]: expect[role] }, expect: taken })
  }
}

/** Whether `user` is an admin who may sign in, or was one until a moment ago and may become one again. */
function isAdminNow(auth: Auth, user: Fields): boolean {
  const { users, roles } = auth
  const isAdmin = hasRole(user[users.names.role], roles.admin)
  return (isAdmin || holds(user, withoutRole(auth))) && !users.isDisabled(user)
}

/** Your app may leave a user without a role, who then never was an admin. */
const TAKEN = '(taken)'

/** The role of one whose role was taken; no route leaves it. */
function withoutRole({ users, roles }: Auth): Fields {
  return { [users.names.role]: roles.multiple ? [TAKEN] : TAKEN }
}

/** The id of an admin who may sign in, and is none of the users `gone`. */
async function anotherAdmin(auth: Auth, gone: readonly string[], refusal: Refuse): Promise<string> {
  const others: Filter = { op: 'nin', field: '_id', values: gone }
  const other = await auth.users.engine.first(all([adminsOf(auth), others]))
  if (!other) throw refusal()
  return String(other._id)
}

function adminsOf({ users, roles }: Auth): Filter {
  const role: Filter = { op: 'in', field: users.names.role, values: roles.admin }
  return users.enabled ? all([role, users.enabled]) : role
}
