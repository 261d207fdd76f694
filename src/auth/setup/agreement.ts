/** Auth routers over one model: what one of them demands, another must not leave open. */

import type { Model } from '../../model/model.ts'
import { isSameContent } from '../../ports/evaluate.ts'
import type { AuthOptions } from './options.ts'
import type { AuthSettings } from './settings.ts'

/** An auth router at its mount. */
interface Mounted {
  readonly mount: string
  readonly settings: AuthSettings
  readonly options: AuthOptions<never>
}

const routers = new WeakMap<object, Map<Model, Mounted[]>>()

/** What the routers of one model must have in common, by option. */
function rules({ settings, options }: Mounted): Readonly<Record<string, unknown>> {
  return {
    // A function of the app has been wrapped anew for each router.
    identifiers: settings.identifiers.map(({ field }, at) => {
      const given = options.identifiers?.[at]
      return [field, typeof given === 'object' ? given.normalize : undefined]
    }),
    fields: { ...settings.names, disabled: settings.disabledField },
    lockout: settings.lockout,
    emailVerification: settings.emailVerification,
    onLogin: settings.onLogin,
    methods: settings.methods.map(({ name, part }) => part ?? name),
    secondFactor: settings.requiredFor,
  }
}

/** Notes a router of the app `host`. Throws a `TypeError` if it differs from another one of its model. */
export function checkAgreement(host: object, mounted: Mounted): void {
  const { settings, mount } = mounted
  const models = routers.get(host) ?? new Map<Model, Mounted[]>()
  routers.set(host, models)
  const others = models.get(settings.model) ?? []
  models.set(settings.model, [...others, mounted])
  for (const other of others) {
    const [own, theirs] = [rules(mounted), rules(other)]
    const option = Object.keys(own).find((name) => !isSameContent(own[name], theirs[name]))
    if (option === undefined) continue
    throw new TypeError(
      `Auth: '${option}' of the router at '${mount}' differs from that at '${other.mount}', and both are for '${settings.model.name}': what one of them demands, the other would leave open. Give both the same`,
    )
  }
}
