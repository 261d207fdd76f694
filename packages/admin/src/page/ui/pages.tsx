/**
 * The screens of the page, and their paths.
 *
 * @module
 */

import { Authenticated } from 'ra-core'
import { lazy, type ReactNode, Suspense } from 'react'
import { Navigate, Route, Routes, useParams } from 'react-router'
import { useAdmin, useRights } from '../context.ts'
import type { Resource } from '../document.ts'
import { useStrings } from '../i18n.ts'
import { Guarded } from './guarded.tsx'
import { Layout } from './layout.tsx'
import { Head, Instead, Loading } from './parts.tsx'
import { idIn } from './value.tsx'

const ListScreen = lazy(() => import('./list.tsx').then(({ List }) => ({ default: List })))
const FormScreen = lazy(() => import('./form.tsx').then(({ Form }) => ({ default: Form })))
const SignIn = lazy(() => import('./sign-in.tsx').then((found) => ({ default: found.SignIn })))
const Account = lazy(() => import('./account.tsx').then((found) => ({ default: found.Account })))

/** Whatever the path leads to. */
export function Pages() {
  const { accounts } = useAdmin()
  return (
    <Suspense fallback={<Loading />}>
      <Routes>
        <Route path="/login" element={<SignIn />} />
        <Route
          path="*"
          element={
            accounts ? (
              <Authenticated>
                <Inside />
              </Authenticated>
            ) : (
              <Inside />
            )
          }
        />
      </Routes>
    </Suspense>
  )
}

/** The screens within the menu. */
function Inside() {
  return (
    <Layout>
      <Guarded>
        <Suspense fallback={<Loading />}>
          <Routes>
            <Route path="/" element={<First />} />
            <Route path="/account" element={<Account />} />
            <Route
              path="/:resource"
              element={<Of>{(found) => <ListScreen resource={found} />}</Of>}
            />
            <Route
              path="/:resource/create"
              element={<Of>{(found) => <FormScreen resource={found} />}</Of>}
            />
            <Route
              path="/:resource/record/:id"
              element={<Of>{(found, id) => <FormScreen resource={found} id={id} />}</Of>}
            />
            <Route path="*" element={<Of>{() => null}</Of>} />
          </Routes>
        </Suspense>
      </Guarded>
    </Layout>
  )
}

/** A screen of the resource in the path. */
function Of({ children }: { children: (resource: Resource, id: string | undefined) => ReactNode }) {
  const { shape } = useAdmin()
  const { resource: name, id: part } = useParams()
  const id = part && idIn(part)
  const t = useStrings()
  const found = shape.resources.find((one) => one.name === name)
  if (!found) return <Instead>{t('missing')}</Instead>
  return <div key={`${name}/${id}`}>{children(found, id)}</div>
}

/** What is shown first: the first list that the caller may see. */
function First() {
  const { shape, title } = useAdmin()
  const rights = useRights()
  const t = useStrings()
  const found = shape.resources.find(rights.shows)
  if (found) return <Navigate to={`/${found.name}`} replace />
  return (
    <>
      <Head title={title} />
      <p>{t('noResources')}</p>
    </>
  )
}
