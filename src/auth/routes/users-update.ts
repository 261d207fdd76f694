/** `PATCH /users/:id`. */

import {
  duplicate,
  entryNotFound,
  invalidFields,
  nothingWritable,
} from '../../http/errors/refusals.ts'
import { valueResponse } from '../../http/response/respond.ts'
import { withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { isDuplicate } from '../../records/engine/clashes.ts'
import { requestedId } from '../../records/read/read.ts'
import type { Expected } from '../../records/write/conditional-write.ts'
import { updateWithFiles } from '../../records/write/file-writes.ts'
import { changeIdOf } from '../../records/write/write-request.ts'
import {
  checkNames,
  chosenFields,
  readBody,
  takenElsewhere,
  withNormalIdentifiers,
} from '../accounts/credentials.ts'
import { reauthenticate } from '../accounts/password-choice.ts'
import { sendNewCode } from '../delivery/code-requests.ts'
import { tellOldAddress } from '../delivery/messages.ts'
import { isAdmin } from '../guards.ts'
import type { AuthRequest } from '../instance/instance.ts'
import * as refuse from '../refusals.ts'
import { report } from '../request-info.ts'
import type { AuthSettings } from '../setup/settings.ts'
import { isSelf } from './users.ts'

/** Changes the fields in `updateFields`; identifiers and addresses for codes only with the current password. */
export async function updateUser(auth: AuthRequest): Promise<Response> {
  const { settings, users, identifiers, request } = auth
  const id = requestedId(settings, request)
  if (!isSelf(request, id) && !isAdmin(settings.roles, request)) throw refuse.ownAccountOnly()
  const body = await readBody(auth)
  const stored = auth.files.namedIn(body).length > 0 ? await users.byId(id) : undefined
  const chosen = chosenFields(auth, body, settings.updateFields, stored)
  if (Object.keys(chosen).length === 0) throw nothingWritable()
  const given = withNormalIdentifiers(settings, chosen)
  const seen = await users.engine.validateSeen(given, withId(id))
  checkKept(settings, seen)
  const touched = identifiers.fields.filter((field) => Object.hasOwn(seen, field))
  const before = touched.length > 0 ? await users.byId(id) : undefined
  if (touched.length > 0 && !before) throw entryNotFound()
  const moved = touched.filter((field) => (seen[field] ?? undefined) !== before?.[field])
  checkNames(settings, Object.fromEntries(moved.map((field) => [field, seen[field]])))
  const { email, pendingEmail } = users.names
  // Who asks for the address that the account has wants no other one any more.
  const stays = touched.includes(email) && !moved.includes(email) && before?.[pendingEmail]
  const changes = stays ? { ...seen, [pendingEmail]: undefined } : seen
  const user =
    before && moved.length > 0
      ? await moveUser(auth, before, { body, changes, moved })
      : await write(auth, id, changes)
  return valueResponse(users.shown(user), { headers: changeIdOf(users.engine, user._id) })
}

/** A profile is sent as JSON, so its write brings no files. */
function write(
  { host, users, files, request }: AuthRequest,
  id: string,
  changes: Fields,
  expected?: Expected,
): Promise<Fields> {
  const owner = { host, engine: users.engine, files }
  const incoming = { files: [], level: undefined, client: undefined, request }
  return updateWithFiles(owner, incoming, withId(id), changes, expected)
}

interface Move {
  readonly body: Fields
  readonly changes: Fields
  /** The identifiers and addresses whose value changes. */
  readonly moved: readonly string[]
}

async function moveUser(
  auth: AuthRequest,
  before: Fields,
  { body, changes, moved }: Move,
): Promise<Fields> {
  const { users, settings, identifiers, request } = auth
  const id = String(before._id)
  const checked = await reauthenticate(auth, body)
  // If the owner proves the account's address meanwhile, this session has ended: nothing of it may be written after
  // that.
  const expected = isSelf(request, id)
    ? { fields: users.passwordState(checked), refusal: refuse.sessionEnded() }
    : undefined
  const { email, pendingEmail } = users.names
  const address = settings.emailVerification.enabled ? (changes[email] ?? undefined) : undefined
  // The new address replaces the old one once it is proven.
  const waits = address !== undefined && moved.includes(email)
  const { [email]: _, ...others } = changes
  const written = waits ? { ...others, [pendingEmail]: address } : changes
  const stored = waits ? moved.filter((field) => field !== email) : moved
  const values = Object.fromEntries(stored.map((field) => [field, changes[field]]))
  const elsewhere = await takenElsewhere(auth, values, id)
  if (elsewhere.length > 0) throw duplicate(await allTaken(auth, values, elsewhere))
  const user = await write(auth, id, written, expected).catch(async (error: unknown) => {
    if (!isDuplicate(error)) throw error
    for (const field of stored) if (!(await identifiers.free(field, values[field]))) throw error
    return write(auth, id, written, expected)
  })
  const told = () => {
    report(auth, 'identifier-changed', id)
    if (waits) auth.context.waitUntil(sendNewCode(auth, user, 'verification'))
    for (const field of moved) tellOldAddress(auth, before, field)
  }
  // If nobody can say so now, it stays changed: the next try would change nothing, and tell nobody.
  const taken = await takenElsewhere(auth, values, id).catch((error: unknown) => {
    told()
    throw error
  })
  if (taken.length > 0) {
    const old = Object.fromEntries(stored.map((field) => [field, before[field]]))
    await users.engine.update(withId(id), old, values)
    throw duplicate(taken)
  }
  told()
  return user
}

/** Those of `values` that clash: `elsewhere` under another kind, and those that another account has under their own. */
async function allTaken(
  { users, identifiers }: AuthRequest,
  values: Fields,
  elsewhere: readonly string[],
): Promise<readonly string[]> {
  const taken: string[] = []
  for (const [field, value] of Object.entries(values)) {
    const holder = typeof value === 'string' ? await users.by(field, value) : undefined
    const isHeld = holder !== undefined && identifiers.mayIdentify(holder, field)
    if (isHeld || elsewhere.includes(field)) taken.push(field)
  }
  return taken
}

/** Without its identifier no one could sign in to the account. Null counts as one if the schema accepts it. */
function checkKept({ identifiers }: AuthSettings, changes: Fields): void {
  for (const { field } of identifiers) {
    const isRemoved = Object.hasOwn(changes, field) && changes[field] === undefined
    if (isRemoved) throw invalidFields({ [field]: 'Invalid value.' })
  }
}
