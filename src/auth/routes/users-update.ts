/**
 * `PATCH /users/:id`.
 *
 * @module
 */

import { invalidFields, nothingWritable } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { dataResponse } from '../../http/respond.ts'
import { hiddenInside } from '../../model/hidden.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { updateWithFiles } from '../../records/file-writes.ts'
import { requestedId } from '../../records/identify.ts'
import { identifierText, readBody } from '../credentials.ts'
import { isAdmin } from '../guards.ts'
import { chosenFields } from '../profile-fields.ts'
import { type Realm, shownUser, userById } from '../realm.ts'
import { ownAccountOnly } from '../refusals.ts'
import { isSelf } from './users-read.ts'

/** A profile is sent as JSON. */
const noFiles = { files: [], level: undefined, client: undefined } as const

/** Changes the fields that `updateFields` names. */
export async function updateUser(realm: Realm, request: ApiRequest): Promise<Response> {
  const { settings, records } = realm
  const id = requestedId(realm.settings, request)
  if (!isSelf(request, id) && !isAdmin(realm, request)) throw ownAccountOnly()
  const body = await readBody(realm, request)
  const stored = realm.files.namedIn(body).length > 0 ? await userById(realm, id) : undefined
  const chosen = chosenFields(realm, body, settings.updateFields, stored)
  if (Object.keys(chosen).length === 0) throw nothingWritable()
  const unseen = hiddenInside(settings.model)
  const given = withNormalIdentifiers(realm, chosen)
  const changes = await records.validateSeen(given, withId(id), unseen)
  checkKept(realm, changes)
  const user = await updateWithFiles(realm, noFiles, withId(id), changes)
  return dataResponse(JSON.stringify(shownUser(realm, user)))
}

function withNormalIdentifiers({ settings }: Realm, chosen: Fields): Fields {
  const changes = { ...chosen }
  for (const { field, normalize } of settings.identifiers) {
    const text = identifierText(chosen, field)
    if (typeof text !== 'string') continue
    const normal = normalize(text)
    if (normal === undefined) throw invalidFields({ [field]: 'Invalid value.' })
    changes[field] = normal
  }
  return changes
}

/** Without its identifier nobody could sign in to the account. Null is one for a schema that takes it. */
function checkKept({ settings }: Realm, changes: Fields): void {
  for (const { field } of settings.identifiers) {
    const isRemoved = Object.hasOwn(changes, field) && changes[field] === undefined
    if (isRemoved) throw invalidFields({ [field]: 'Invalid value.' })
  }
}
