/**
 * The fields of a user that clients may write: those in `registerFields` and `updateFields`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import { cleaned } from '../../records/rules/policy.ts'
import { keysBelow } from '../../uploads/base-path.ts'
import { withoutForeignUrls } from '../../uploads/file-values.ts'
import type { AuthInstance } from '../instance/instance.ts'

/**
 * The part of `body` that `allowed` names, without forbidden keys at any level. The rest is dropped, and so are values
 * of file fields that `stored`, the account to be changed, does not hold.
 */
export function chosenFields(
  { files, host, settings }: Pick<AuthInstance, 'files' | 'host' | 'settings'>,
  body: Fields,
  allowed: readonly string[],
  request: ApiRequest,
  stored?: Fields,
): Fields {
  const chosen: Fields = {}
  for (const field of allowed) {
    if (!Object.hasOwn(body, field)) continue
    chosen[field] = cleaned(field, body[field], settings.model.input)
  }
  return withoutForeignUrls(files.namedIn(chosen), chosen, stored, keysBelow(request, host.files))
}
