/**
 * The fields of a user that clients may write: those in `registerFields` and `updateFields`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import type { Host } from '../../records/engine/host.ts'
import { cleaned } from '../../records/rules/policy.ts'
import { keysBelow } from '../../uploads/base-path.ts'
import { withoutForeignUrls } from '../../uploads/file-values.ts'
import type { ModelFiles } from '../../uploads/model-files.ts'
import type { AuthSettings } from '../setup/settings.ts'

/** The parts that tell what a profile may hold. */
export interface ProfileParts {
  readonly files: ModelFiles
  readonly host: Host
  readonly settings: AuthSettings
}

/**
 * The part of `body` that `allowed` names, without forbidden keys at any level. The rest is dropped, and so are values
 * of file fields that `stored`, the account to be changed, does not hold.
 */
export function chosenFields(
  { files, host, settings }: ProfileParts,
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
