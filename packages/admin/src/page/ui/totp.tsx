/**
 * The authenticator app of the user's account.
 *
 * @module
 */

import { lazy, Suspense, useState } from 'react'
import { useAdmin } from '../context.ts'
import { useStrings } from '../i18n.ts'
import { Once, Section, told, useRecent } from './account-parts.tsx'
import { StepForm, Text } from './sign-in.tsx'

const Qr = lazy(() => import('./qr.tsx').then((found) => ({ default: found.Qr })))

interface Begun {
  readonly secret: string
  readonly uri: string
  readonly ticket: string
}

/** Sets an app up, ends it, and makes new recovery codes. */
export function Totp() {
  const { accounts, shape } = useAdmin()
  const t = useStrings()
  const recent = useRecent()
  const [begun, setBegun] = useState<Begun>()
  const [codes, setCodes] = useState<readonly string[]>([])
  const [code, setCode] = useState('')
  const finish = (data: { readonly recoveryCodes: readonly string[] }) => {
    setBegun(undefined)
    setCode('')
    setCodes(data.recoveryCodes)
  }
  const ticket = begun?.ticket
  /** Calls what is there for accounts with an app. */
  const withApp = async (name: string) => told(await accounts?.[name]?.(), 404, t('noTotp'))
  return (
    <Section title={t('authenticator')}>
      {codes.length > 0 && (
        <Once text={t('recovery')}>
          <pre>{codes.join('\n')}</pre>
        </Once>
      )}
      {begun ? (
        <StepForm
          action={t('confirm')}
          onSubmit={() => recent.go(() => accounts?.confirmTotp?.({ ticket, code }), finish)}
        >
          <p>{t('scan')}</p>
          <Suspense>
            <Qr text={begun.uri} label={t('qr')} />
          </Suspense>
          <pre>{begun.secret}</pre>
          <p>
            <a href={begun.uri}>{t('openApp')}</a>
          </p>
          <Text
            label={t('totpCode')}
            value={code}
            onChange={setCode}
            autoComplete="one-time-code"
          />
        </StepForm>
      ) : (
        <div className="buttons">
          <button type="button" onClick={() => recent.go(() => accounts?.createTotp?.(), setBegun)}>
            {t('addTotp')}
          </button>
          {shape.accounts?.routes.createRecoveryCodes && (
            <button
              type="button"
              onClick={() => recent.go(() => withApp('createRecoveryCodes'), finish)}
            >
              {t('recoveryCodes')}
            </button>
          )}
          <button
            type="button"
            className="danger"
            onClick={() =>
              recent.go(
                () => withApp('deleteTotp'),
                () => setCodes([]),
                t('deleted'),
              )
            }
          >
            {t('remove')}
          </button>
        </div>
      )}
      {recent.said}
    </Section>
  )
}
