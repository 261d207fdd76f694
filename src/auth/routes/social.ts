/** `POST /social/:provider`. */

import { idsOf } from '../../ports/services/logger.ts'
import type { Fields } from '../../ports/store/records.ts'
import { accountOf } from '../accounts/create-account.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import { type AuthRequest, type OwnMethod, route } from '../instance/instance.ts'
import { askSecondStep } from '../instance/tickets.ts'
import { type Provider, UnusableId, type Verified } from '../providers/provider.ts'
import * as refuse from '../refusals.ts'
import { report } from '../request-info.ts'
import { isRefusal, runOnLogin } from '../sign-in.ts'
import { askedStep, checkAccount, respondSignedIn } from './login.ts'

const MAX_TRIES = 3

/** The option `social`. */
export const socialSignIn: OwnMethod = {
  routes: [route('social', 'POST /social/:provider', 'anyone', social)],
  open: ({ settings }) => ({
    opens: async (user) =>
      [...settings.providers.values()].some(({ idField }) => typeof user[idField] === 'string'),
  }),
}

/** Signs in by a provider's credential. Nothing else in the body identifies the user. */
async function social(auth: AuthRequest): Promise<Response> {
  const { settings, users, logger, request } = auth
  const name = request.params.provider ?? ''
  const provider = settings.providers.get(name)
  if (!provider) throw refuse.providerNotEnabled(name)
  const body = await readBody(auth)
  checkCredentials(provider, body)
  const tried: { user?: Fields } = {}
  try {
    const profile = await provider.profile(body, users.now)
    return await useOnce(auth, profile, () => signInBy(auth, provider, profile, tried))
  } catch (error) {
    if (isRefusal(error)) report(auth, 'sign-in-failed', tried.user?._id)
    const cause = error instanceof Error ? error.cause : undefined
    if (cause instanceof UnusableId) {
      logger.error(`social.${provider.name}: ${cause.message}`, idsOf(request))
    }
    throw error
  }
}

async function signInBy(
  auth: AuthRequest,
  provider: Provider,
  profile: Verified,
  tried: { user?: Fields },
): Promise<Response> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const user = await accountOf(auth, provider, profile)
    tried.user = user
    await checkAccount(auth, user)
    const step = tries === 0 ? await runOnLogin(auth, user) : undefined
    const asked = await askedStep(auth, user, step)
    if (asked) return askSecondStep(auth, user, { ...asked, provider })
    // Meanwhile the link may end, if the owner proves the account's address.
    const expect = { [provider.idField]: profile.id }
    const ending = { expect, more: { provider: provider.name } }
    const response = await respondSignedIn(auth, user, ending)
    if (response) return response
  }
  throw refuse.invalidCredentials()
}

/**
 * Signs in with a token that may do so only once. It is used up first, so that two parallel requests cannot both use
 * it, and given back if the server fails. A user refused by `onLogin` needs a new token: nothing else here limits
 * guesses at a second factor.
 */
async function useOnce(
  { usedTokens, context }: AuthRequest,
  { once }: Verified,
  signIn: () => Promise<Response>,
): Promise<Response> {
  if (!once || !usedTokens) return signIn()
  const giveBack = await usedTokens.use(once)
  if (!giveBack) throw refuse.providerRefused()
  context.waitUntil(usedTokens.sweep())
  try {
    return await signIn()
  } catch (error) {
    // If the store fails, the token stays used: a new one is easy to get.
    if (!isRefusal(error)) await giveBack().catch(() => {})
    throw error
  }
}

/** One of the provider's credentials must be a string; a number or boolean counts as a wrong one. */
function checkCredentials({ credentials, companions = [] }: Provider, body: Fields): void {
  const others = companions.map((name) => credential(body, name))
  if (others.includes(null)) throw refuse.providerRefused()
  const given = credentials
    .map((name) => credential(body, name))
    .filter((value) => value !== undefined && value !== '')
  if (credentials.length === 0) return
  if (given.length === 0) throw refuse.providerCredentialNeeded(credentials)
  if (!given.some((value) => typeof value === 'string')) throw refuse.providerRefused()
}
