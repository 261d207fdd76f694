/**
 * The ways to sign in: what each is answered, and what is said of it.
 *
 * @module
 */

import { useLogin } from 'ra-core'
import { useEffect, useRef, useState } from 'react'
import { useSentence } from '../context.ts'
import { useStrings } from '../i18n.ts'
import type { SignInWay } from '../session.ts'

/** What the server asks for after a first step. */
export interface SecondStep {
  readonly ticket: string
  readonly secondStep: readonly string[]
}

/** The second step that a refusal asks for. */
export function secondStepIn(refusal: unknown): SecondStep | undefined {
  const { ticket, secondStep } = (refusal ?? {}) as Partial<SecondStep>
  return ticket && secondStep ? { ticket, secondStep } : undefined
}

/** What to say where somebody is not who they say: the server's own sentence. */
export function useRefused(): (error: unknown) => string {
  const sentence = useSentence()
  return (error) => {
    const { status, message = '' } = error as { status?: number; message?: string }
    return status === 401 ? message : sentence(error)
  }
}

/** Signs in one way, and says why if it fails. */
export function useWay(onSecond?: (step: SecondStep) => void) {
  const login = useLogin()
  const refused = useRefused()
  const t = useStrings()
  const [failure, setFailure] = useState('')
  const [isBusy, setBusy] = useState(false)
  function tell(error: unknown, { way, body }: SignInWay): void {
    const { status } = error as { status?: number }
    // Users do not know of an offer that they have not taken.
    if (body?.autofill && status !== 401) return
    // The browser's own dialog was closed, or it has no passkey.
    setFailure(status === 0 && way === 'passkey' ? t('passkeyFailed') : refused(error))
  }
  /** Resolves to the status of the refusal, if there is one. */
  async function go(way: SignInWay): Promise<number | undefined> {
    const isOffer = way.body?.autofill === true
    setBusy(!isOffer)
    if (!isOffer) setFailure('')
    try {
      await login(way)
      return undefined
    } catch (error) {
      const second = secondStepIn(error)
      if (second && onSecond) onSecond(second)
      else tell(error, way)
      return second ? 0 : (error as { status?: number }).status
    } finally {
      setBusy(false)
    }
  }
  return { go, failure, isBusy }
}

/** Offers passkeys where the name is typed, if the browser can; another passkey ends it. */
export function useOffer(go: Way['go'], hasPasskeys: boolean): void {
  const latest = useRef(go)
  useEffect(() => {
    let isLeft = !hasPasskeys
    async function offer(): Promise<void> {
      const can = await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.()
      if (isLeft || !can) return
      const status = await latest.current({ way: 'passkey', body: { autofill: true } })
      // It was taken too late, or was the wrong one.
      if (status === 401) await offer()
    }
    void offer()
    return () => {
      isLeft = true
    }
  }, [hasPasskeys])
}

export type Way = ReturnType<typeof useWay>
