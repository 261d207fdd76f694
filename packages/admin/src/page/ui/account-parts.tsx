/**
 * What the parts of the account screen share.
 *
 * @module
 */

import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { useAdmin } from '../context.ts'
import type { Outcome } from '../data.ts'
import { useStrings } from '../i18n.ts'
import { Dialog, Notice } from './parts.tsx'
import { StepForm, Text } from './sign-in.tsx'
import { useRun } from './user-tools.tsx'

/** A part of the screen. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

/** What a call of the auth router lists; `again` asks anew. */
export function useListed<T>(name: string): readonly [readonly T[], () => void] {
  const { accounts } = useAdmin()
  const [items, setItems] = useState<readonly T[]>([])
  const again = useCallback(() => {
    accounts?.[name]?.().then((result: Outcome<T[]>) => result.ok && setItems(result.data))
  }, [accounts, name])
  useEffect(again, [again])
  return [items, again]
}

/** Calls what needs a recent sign-in: if it is not, the user confirms with the password, and it is called again. */
export function useRecent() {
  const { accounts } = useAdmin()
  const t = useStrings()
  const run = useRun()
  const [waiting, setWaiting] = useState<() => void>()
  const [password, setPassword] = useState('')
  async function go<T>(
    call: () => Promise<Outcome<T>> | undefined,
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
  async function confirm(): Promise<void> {
    const data = await run.go(() => accounts?.confirmLogin?.({ password }))
    setPassword('')
    if (data === undefined) return
    waiting?.()
    setWaiting(undefined)
  }
  const said = waiting ? (
    <Dialog title={t('confirmIdentity')} onClose={() => setWaiting(undefined)}>
      {run.said}
      <StepForm action={t('confirm')} onSubmit={confirm}>
        <Text
          label={t('password')}
          type="password"
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
        />
      </StepForm>
    </Dialog>
  ) : (
    run.said
  )
  return { go, said }
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
