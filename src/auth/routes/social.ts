/**
 * `POST /social/:provider`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import { accountOf } from '../accounts/link.ts'
import { awaitsProof } from '../delivery/verification.ts'
import type { Realm } from '../instance/instance.ts'
import { isDisabled } from '../instance/user.ts'
import type { Profile, Provider } from '../providers/provider.ts'
import type { SingleUse } from '../providers/used-tokens.ts'
import {
  emailNotConfirmed,
  invalidCredentials,
  notActive,
  providerCredentialNeeded,
  providerNotEnabled,
  providerRefused,
} from '../refusals.ts'
import { endSessionsOfDisabled } from '../sign-in/disabled.ts'
import { secondStepResponse } from '../sign-in/second-step.ts'
import { isRefusal, runOnLogin, signIn } from '../sign-in/sign-in.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'
import type { AuthRoute } from './route.ts'

const MAX_SHOWN = 64
const MAX_TRIES = 3

/** The row of `social`. */
export const socialRoute: AuthRoute<'social'> = {
  name: 'social',
  method: 'POST',
  path: '/social/:provider',
  access: 'anyone',
  handler: (realm) => (request) => social(realm, request),
}

/** Signs in by a provider's credential. Nothing else of the body says who it is. */
async function social(realm: Realm, request: ApiRequest): Promise<Response> {
  const name = request.params.provider ?? ''
  const provider = realm.settings.providers.get(name)
  if (!provider) throw providerNotEnabled(name.slice(0, MAX_SHOWN))
  const body = await readBody(realm, request)
  checkCredentials(provider, body)
  const tried: Tried = {}
  try {
    const profile = await provider.profile(body, realm.now)
    return await once(realm, profile.once, request, () =>
      signedIn(realm, provider, profile, request, tried),
    )
  } catch (error) {
    if (isRefusal(error)) report(realm, request, 'sign-in-failed', tried.userId)
    throw error
  }
}

/** Whose account it was, once that is known. */
interface Tried {
  userId?: unknown
}

async function signedIn(
  realm: Realm,
  provider: Provider,
  profile: Profile,
  request: ApiRequest,
  tried: Tried,
): Promise<Response> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const user = await accountOf(realm, provider, profile, request)
    tried.userId = user._id
    if (isDisabled(realm, user)) {
      await endSessionsOfDisabled(realm, user)
      throw notActive()
    }
    if (awaitsProof(realm, user)) throw emailNotConfirmed()
    const asked = tries === 0 ? await runOnLogin(realm, user, request) : undefined
    if (asked) return secondStepResponse(realm, user, asked, request, provider)
    // The link may end meanwhile, when somebody proves the account's address.
    const filter = { op: 'eq', field: provider.idField, value: profile.id } as const
    const data = await signIn(realm, user, request, { filter })
    if (!data) continue
    report(realm, request, 'signed-in', user._id)
    return valueResponse({ ...data, provider: provider.name })
  }
  throw invalidCredentials()
}

/**
 * Signs in with a token that may do so once. It is used up before, so that two in parallel cannot both, and given back
 * when the server fails. Whom `onLogin` refuses needs a new one: there is no other limit to guesses at a second factor here.
 */
async function once(
  realm: Realm,
  token: SingleUse | undefined,
  request: ApiRequest,
  work: () => Promise<Response>,
): Promise<Response> {
  const { usedTokens } = realm
  if (!token || !usedTokens) return work()
  const giveBack = await usedTokens.use(token)
  if (!giveBack) throw providerRefused()
  visitOf(request).later(usedTokens.sweep())
  try {
    return await work()
  } catch (error) {
    // Where the store fails, the token stays used: a new one is easily had.
    if (!isRefusal(error)) await giveBack().catch(() => {})
    throw error
  }
}

/** One of the provider's credentials must be a text; a number or boolean is merely a wrong one. */
function checkCredentials({ credentials, companions = [] }: Provider, body: Fields): void {
  const others = companions.map((name) => credential(body, name))
  if (others.includes(null)) throw providerRefused()
  const given = credentials
    .map((name) => credential(body, name))
    .filter((value) => value !== undefined && value !== '')
  if (credentials.length === 0) return
  if (given.length === 0) throw providerCredentialNeeded(credentials)
  if (!given.some((value) => typeof value === 'string')) throw providerRefused()
}
