/**
 * What the parts of the account screen share.
 *
 * @module
 */

import { useLogout } from 'ra-core'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { useAdmin, useSentence } from '../context.ts'
import type { Outcome } from '../data.ts'
import { useStrings } from '../i18n.ts'
import { Dialog, Notice } from './parts.tsx'
import { StepForm, Text } from './sign-in.tsx'
import { useRun } from './user-tools.tsx'
import { type SecondStep, secondStepIn, useRefused } from './ways.ts'

/** A part of the screen. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

/** What a call of the auth router lists, how to ask anew, and why it could not be read. */
export function useListed<T>(name: string): readonly [readonly T[], () => void, ReactNode] {
  const { accounts } = useAdmin()
  const sentence = useSentence()
  const [items, setItems] = useState<readonly T[]>([])
  const [failure, setFailure] = useState<unknown>()
  const again = useCallback(() => {
    accounts?.[name]?.().then((result: Outcome<T[]>) => {
      setFailure(result.ok ? undefined : result.error)
      if (result.ok) setItems(result.data)
    })
  }, [accounts, name])
  useEffect(again, [again])
  const unread = <Notice kind="error">{failure !== undefined && sentence(failure)}</Notice>
  return [items, again, unread]
}

/** Calls what needs a recent sign-in: if it is not, the user confirms who they are, and it is called again. */
export function useRecent() {
  const t = useStrings()
  const run = useRun()
  const [waiting, setWaiting] = useState<() => void>()
  async function go<T>(
    call: () => Promise<Outcome<T> | undefined> | undefined,
    then: (data: T) => void,
    done = '',
  ) {
    run.setSaid(null)
    const result = await call()
    if (result && !result.ok && result.error.status === 403) {
      return setWaiting(
        () => () => run.go(call, done).then((data) => data !== undefined && then(data)),
      )
    }
    const data = await run.go(async () => result as Outcome<T>, done)
    if (data !== undefined) then(data)
  }
  const said = waiting ? (
    <Dialog title={t('confirmIdentity')} onClose={() => setWaiting(undefined)}>
      <Confirming
        onDone={() => {
          waiting()
          setWaiting(undefined)
        }}
      />
    </Dialog>
  ) : (
    run.said
  )
  return { go, said }
}

/** What a call came to, with a sentence of the page's own for refusals with `status`. */
export function told<T>(result: Outcome<T> | undefined, status: number, message: string) {
  const isMeant = result?.ok === false && result.error.status === status
  return isMeant ? { ...result, error: { message } as never } : result
}

/** Asks for the password, and for a second factor where the account has one; or for a passkey. */
function Confirming({ onDone }: { onDone: () => void }) {
  const { accounts, shape } = useAdmin()
  const t = useStrings()
  const refused = useRefused()
  const logout = useLogout()
  const [text, setText] = useState('')
  const [second, setSecond] = useState<SecondStep>()
  const [failure, setFailure] = useState('')
  const isByApp = second?.secondStep.includes('totp')
  async function confirm(): Promise<void> {
    const code = { ticket: second?.ticket, [isByApp ? 'totp' : 'recoveryCode']: text }
    const result = await accounts?.confirmLogin?.(second ? code : { password: text })
    setText('')
    if (!result || result.ok) return onDone()
    const next = secondStepIn(result.error)
    if (next) setSecond(next)
    setFailure(next ? '' : refused(result.error))
  }
  async function confirmByPasskey(): Promise<void> {
    const result = await accounts?.passkeys.confirm()
    if (!result || result.ok) return onDone()
    // The browser's own dialog was closed, or it has no passkey.
    setFailure(result.error.status === 0 ? t('passkeyFailed') : refused(result.error))
  }
  return (
    <StepForm
      action={t('confirm')}
      onSubmit={confirm}
      failure={failure}
      beside={
        <>
          {shape.accounts?.routes.passkeyLogin && (
            <button type="button" onClick={confirmByPasskey}>
              {t('passkeyConfirm')}
            </button>
          )}
          <button type="button" className="link" onClick={() => logout({}, '/login', false)}>
            {t('signInAgain')}
          </button>
        </>
      }
    >
      <Text
        key={second?.ticket}
        takesFocus
        label={t(second ? (isByApp ? 'totpCode' : 'recoveryCode') : 'password')}
        type={second ? 'text' : 'password'}
        value={text}
        onChange={setText}
        autoComplete={second ? 'one-time-code' : 'current-password'}
      />
    </StepForm>
  )
}

/** Texts that are shown once, to be copied. */
export function Once({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Notice kind="info">
      <p>{text}</p>
      {children}
    </Notice>
  )
}
