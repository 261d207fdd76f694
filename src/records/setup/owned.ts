/** `ownedBy`: records that belong to accounts, as the guard and the scope that it stands for. */

import type { Fail } from '../../model/option-rules.ts'
import { noSuchField } from '../../model/suggest.ts'
import type { Fields } from '../../ports/store/records.ts'
import { describeGuard } from '../engine/guards.ts'
import type { Host } from '../engine/host.ts'
import type { Guard } from '../engine/route.ts'
import type { RouterOptions } from './options.ts'

/** `options` with what `ownedBy` stands for: only users of the referenced accounts pass, each to their own records. */
export function ownedOptions(
  host: Host,
  options: RouterOptions<Fields>,
  fail: Fail,
): RouterOptions<Fields> {
  const { ownedBy, model, scope, middlewares = [] } = options ?? {}
  if (ownedBy === undefined || !model?.shape) return options
  if (scope) fail(`'ownedBy' is a scope: leave out 'scope'`)
  const shape = model.shape.fields.get(ownedBy) ?? fail(noSuchField('ownedBy', ownedBy, model))
  const { ref } = shape.kind === 'id' ? shape : {}
  if (ref === undefined) {
    return fail(`'ownedBy' names '${ownedBy}', which is no reference. Declare it as ref('User')`)
  }
  const accounts = () => {
    const owner = host.modelNamed(ref)
    return owner && host.accounts.get(owner)
  }
  host.onReady(() => {
    if (!accounts()) {
      fail(
        `'ownedBy' names '${ownedBy}', but the app has no accounts of the model '${ref}'. Mount the router of createAuthRouter`,
      )
    }
  })
  const signedIn: Guard = (request, context) => accounts()?.(request, context)
  return {
    ...options,
    middlewares: [describeGuard(signedIn, 'signed in', { token: 'required' }), ...middlewares],
    scope: ({ auth }) => ({ [ownedBy]: auth?.userId }),
  }
}
