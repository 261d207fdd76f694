/**
 * What all parts of the page share.
 *
 * @module
 */

import { createContext, useContext, useSyncExternalStore } from 'react'
import type { ClientError } from '../../../../src/client/index.ts'
import type { AccountCalls, Api, Data } from './data.ts'
import type { AppShape, Resource } from './document.ts'
import type { Strings } from './en.ts'
import { useStrings } from './i18n.ts'
import type { Provider } from './providers.ts'
import type { Rights } from './rights.ts'

/** The page, made once. */
export interface Admin {
  readonly title: string
  readonly api: Api
  readonly shape: AppShape
  readonly data: Data
  readonly rights: Rights
  /** The calls of the auth router, if the app has one. */
  readonly accounts: AccountCalls | undefined
  /** Where people can sign in beside the app. */
  readonly providers: readonly Provider[]
  /** Why someone who comes back from a provider has not been signed in. */
  readonly refusal: ClientError | undefined
}

export const AdminContext = createContext<Admin | undefined>(undefined)

export function useAdmin(): Admin {
  const admin = useContext(AdminContext)
  if (!admin) throw new Error('there is no admin')
  return admin
}

/** What the caller may do; renders again when that changes. */
export function useRights(): Rights {
  const { rights } = useAdmin()
  useSyncExternalStore(rights.subscribe, rights.version)
  return rights
}

/** The resources of a model that the caller may list; users last. */
export function useResourcesOf(model: string | undefined): readonly Resource[] {
  const { shape } = useAdmin()
  const rights = useRights()
  return shape.resources.filter((one) => one.model === model && rights.shows(one))
}

/** Whether what failed may be there after all in a while. */
export function isPassing(status = 0): boolean {
  return status < 300 || status === 408 || status === 429 || status >= 500
}

/** What to say of an error: a sentence in the user's language, and the server's own. */
export function useSentence(): (error: unknown) => string {
  const t = useStrings()
  return (error) => {
    const { status, message = '' } = (error ?? {}) as Partial<ClientError>
    // A proxy says so for a server that does not answer.
    const name = `status.${status === 502 || status === 504 ? 503 : status}` as keyof Strings
    const own = t(name, { _: '' })
    if (status === 0) return own
    return own === '' || message === '' ? own || message || t('failed') : `${own} ${message}`
  }
}
