/**
 * The admin page: reads the app's document, and shows what is in it.
 *
 * @module
 */

import { local, session } from './kept.ts'

// That comes first: react-admin looks at the browser's storage as soon as it is loaded.

import { QueryClient } from '@tanstack/query-core'
import { CoreAdminContext, localStorageStore } from 'ra-core'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { type ClientError, createClient, type RoutePaths } from '../../../../src/client/index.ts'
import { type Admin, AdminContext } from './context.ts'
import { type AccountCalls, Data } from './data.ts'
import { type Accounts, type Document, shapeOf, type Taste } from './document.ts'
import { keepFocus } from './focus.ts'
import { dropDrafts } from './form-values.ts'
import { languages } from './i18n.ts'
import { arrive, isArrival, PLACE, providersOf, type SocialProvider } from './providers.ts'
import { Rights } from './rights.ts'
import { accountCalls, authOf, ended, SIGN_IN } from './session.ts'
import './style.css'
import { Pages } from './ui/pages.tsx'
import { applyTheme } from './ui/theme.tsx'

/** What the server says of the page. */
interface Config {
  readonly title: string
  /** The path that the app is served below, which may be relative to the page's, as that of the document. */
  readonly api: string
  readonly document: string
  readonly resources: Taste
  readonly providers: Readonly<Record<string, SocialProvider>>
}

const KEY = 'fieldgate'

/**
 * What is asked without a network fails, and says so. By default it waits without a word: a deletion would be done whenever the
 * network is back.
 */
const queryClient = new QueryClient({
  defaultOptions: {
    queries: { networkMode: 'always', refetchOnReconnect: true },
    mutations: { networkMode: 'always' },
  },
})

/** The paths of the auth router's routes, which it may have renamed. */
function pathsOf({ mount, routes }: Accounts): RoutePaths {
  const entries = Object.entries(routes).map(([name, { path }]) => [
    name,
    path.slice(mount === '/' ? 0 : mount.length).replace(/\{(\w+)\}/g, ':$1'),
  ])
  return Object.fromEntries(entries)
}

/** What this user has seen must not be there for the next one. Whoever has not signed out comes back to where they were. */
function onSignedOut(): void {
  comeBackTo(ended.isWanted ? SIGN_IN : location.hash.slice(1), { ended })
  location.reload()
}

/** Shows the sign-in screen, from which the way leads back to a place. */
function comeBackTo(nextPathname: string, state: object = {}): void {
  const usr = nextPathname !== SIGN_IN && { nextPathname, nextSearch: '', ...state }
  // As the router keeps its states.
  history.replaceState({ usr }, '', `#${SIGN_IN}`)
}

/** Whose tokens are kept, as far as they say it. */
function userIn(kept: string | null): unknown {
  try {
    const [, claims = ''] = JSON.parse(String(kept)).token.split('.')
    return JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))).sub
  } catch {
    return undefined
  }
}

/** Another user may sign in elsewhere in this browser, and what is done here is theirs from then on: so is what is shown. */
function followUser(name: string): void {
  addEventListener('storage', ({ key, oldValue, newValue }) => {
    const [before, now] = [userIn(oldValue), userIn(newValue)]
    if (key !== name || before === undefined || now === undefined || before === now) return
    dropDrafts()
    location.reload()
  })
}

/** Why who comes back from a provider is not signed in; who is, comes to where they began. */
async function refusalOf(accounts: AccountCalls): Promise<ClientError | undefined> {
  const arrived = await arrive(accounts)
  if (!arrived) return undefined
  const place = session.getItem(PLACE) ?? '/'
  if (arrived.ok) return void location.replace(`#${place}`)
  comeBackTo(place)
  return arrived.error
}

/** Who scrolls past a number that has the focus does not want another one. */
function leaveNumber({ target }: Event): void {
  const isNumber = target instanceof HTMLInputElement && target.type === 'number'
  if (isNumber && target === document.activeElement) target.blur()
}

async function begin(place: HTMLElement): Promise<void> {
  applyTheme()
  keepFocus()
  addEventListener('wheel', leaveNumber, { passive: true })
  const config = JSON.parse(place.dataset.config ?? '{}') as Config
  const asked = fetch(config.document).catch(() => undefined)
  const [response, i18n] = await Promise.all([asked, languages()])
  if (!response?.ok) throw new Error(i18n.translate('noDocument'))
  const shape = shapeOf((await response.json()) as Document, config.resources)
  const url = new URL(config.api, location.href).href.replace(/\/$/, '')
  const api = createClient(url, {
    // The key that clients have by default: who has signed in to the app in this browser has signed in here.
    key: KEY,
    storage: local,
    routes: shape.accounts ? { [shape.accounts.mount]: pathsOf(shape.accounts) } : {},
    onSignedOut,
  })
  const name = `${KEY}:${url}`
  followUser(name)
  const rights = new Rights()
  const data = new Data(api, shape, rights, queryClient)
  const accounts = shape.accounts && accountCalls(api, shape.accounts)
  const refusal = accounts && isArrival(location) ? await refusalOf(accounts) : undefined
  const providers =
    shape.accounts && accounts ? providersOf(shape.accounts, accounts, config.providers) : []
  const { title } = config
  const admin: Admin = { title, api, shape, data, rights, accounts, providers, refusal }
  const auth =
    shape.accounts && authOf(api, shape.accounts, rights, () => local.getItem(name) !== null)
  createRoot(place).render(
    <StrictMode>
      <CoreAdminContext
        {...(auth && { authProvider: auth })}
        dataProvider={data.provider()}
        i18nProvider={i18n}
        queryClient={queryClient}
        store={localStorageStore('1', 'fieldgate-admin')}
      >
        <AdminContext value={admin}>
          <Pages />
        </AdminContext>
      </CoreAdminContext>
    </StrictMode>,
  )
}

const place = document.getElementById('admin')
if (place) {
  begin(place).catch((error: unknown) => {
    place.textContent = error instanceof Error ? error.message : String(error)
    place.setAttribute('role', 'alert')
  })
}
