/**
 * `POST /social/:provider`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import { valueResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import { accountOf } from '../accounts/link.ts'
import { tellOfProviders } from '../delivery/notices.ts'
import { awaitsProof } from '../delivery/verification.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isDisabled } from '../instance/user.ts'
import type { Provider, Verified } from '../providers/provider.ts'
import { UnusableId } from '../providers/provider-id.ts'
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
import { signedIn } from './signed-in.ts'

const MAX_SHOWN = 64
const MAX_TRIES = 3

/** The route `social`. */
export const socialRoute: AuthRoute<'social'> = {
  name: 'social',
  method: 'POST',
  path: '/social/:provider',
  access: 'anyone',
  handler: (auth) => (request) => social(auth, request),
}

/** Signs in by a provider's credential. Nothing else in the body identifies the user. */
async function social(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const name = request.params.provider ?? ''
  const provider = auth.settings.providers.get(name)
  if (!provider) throw providerNotEnabled(name.slice(0, MAX_SHOWN))
  const body = await readBody(auth, request)
  checkCredentials(provider, body)
  const tried: Tried = {}
  try {
    const profile = await provider.profile(body, auth.now)
    return await once(auth, profile.once, request, () =>
      opened(auth, provider, profile, request, tried),
    )
  } catch (error) {
    if (isRefusal(error)) report(auth, request, 'sign-in-failed', tried.userId)
    const cause = error instanceof Error ? error.cause : undefined
    if (cause instanceof UnusableId) {
      auth.host.logger.error(`social.${provider.name}: ${cause.message}`, idsOf(request))
    }
    throw error
  }
}

/** The account that was tried, once it is known. */
interface Tried {
  userId?: unknown
}

async function opened(
  auth: AuthInstance,
  provider: Provider,
  profile: Verified,
  request: ApiRequest,
  tried: Tried,
): Promise<Response> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const user = await accountOf(auth, provider, profile, request, (before, after) =>
      tellOfProviders(auth, before, after, request),
    )
    tried.userId = user._id
    if (isDisabled(auth, user)) {
      await endSessionsOfDisabled(auth, user)
      throw notActive()
    }
    if (awaitsProof(auth, user)) throw emailNotConfirmed()
    const asked = tries === 0 ? await runOnLogin(auth, user, request) : undefined
    if (asked) return secondStepResponse(auth, user, asked, request, provider)
    // Meanwhile the link may end, if the owner proves the account's address.
    const filter = { op: 'eq', field: provider.idField, value: profile.id } as const
    const data = await signIn(auth, user, request, { filter })
    if (!data) continue
    await signedIn(auth, user, request)
    return valueResponse({ ...data, provider: provider.name })
  }
  throw invalidCredentials()
}

/**
 * Signs in with a token that may do so only once. It is used up first, so that two parallel requests cannot both use
 * it, and given back if the server fails. A user refused by `onLogin` needs a new token: nothing else here limits
 * guesses at a second factor.
 */
async function once(
  auth: AuthInstance,
  token: SingleUse | undefined,
  request: ApiRequest,
  work: () => Promise<Response>,
): Promise<Response> {
  const { usedTokens } = auth
  if (!token || !usedTokens) return work()
  const giveBack = await usedTokens.use(token)
  if (!giveBack) throw providerRefused()
  visitOf(request).later(usedTokens.sweep())
  try {
    return await work()
  } catch (error) {
    // If the store fails, the token stays used: a new one is easy to get.
    if (!isRefusal(error)) await giveBack().catch(() => {})
    throw error
  }
}

/** One of the provider's credentials must be a string; a number or boolean counts as a wrong one. */
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
