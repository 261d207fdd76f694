/**
 * The user's own account: password, factors, keys and sessions, as far as the app has them.
 *
 * @module
 */

import { useGetIdentity, useLogout } from 'ra-core'
import { useState } from 'react'
import { useAdmin } from '../context.ts'
import { useFormats, useStrings } from '../i18n.ts'
import { ended } from '../session.ts'
import { Section, told, useListed, useRecent } from './account-parts.tsx'
import { Keys } from './keys.tsx'
import { Head } from './parts.tsx'
import { StepForm, Text } from './sign-in.tsx'
import { Totp } from './totp.tsx'
import { useRun } from './user-tools.tsx'

/** The screen of the account. */
export function Account() {
  const { shape } = useAdmin()
  const t = useStrings()
  const { routes = {} } = shape.accounts ?? {}
  return (
    <>
      <Head title={t('account')} />
      <div className="sections">
        {routes.changePassword && <Password />}
        {routes.createTotp && <Totp />}
        {routes.listPasskeys && <Passkeys />}
        {routes.listKeys && <Keys />}
        {routes.listSessions && <Sessions />}
      </div>
    </>
  )
}

function Password() {
  const { accounts } = useAdmin()
  const t = useStrings()
  const run = useRun()
  const { identity } = useGetIdentity()
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNew] = useState('')
  async function change() {
    // That ends this session too, with another screen.
    ended.reason = t('passwordChanged')
    const result = await accounts?.changePassword?.({ currentPassword, newPassword })
    if (!result?.ok) ended.reason = ''
    return result
  }
  return (
    <Section title={t('changePassword')}>
      <StepForm action={t('changePassword')} onSubmit={() => run.go(change, t('passwordChanged'))}>
        {/* Whose password it is, for managers of passwords. */}
        <input hidden readOnly autoComplete="username" value={identity?.identifier ?? ''} />
        <Text
          label={t('currentPassword')}
          type="password"
          value={currentPassword}
          onChange={setCurrent}
          autoComplete="current-password"
        />
        <Text
          label={t('newPassword')}
          type="password"
          value={newPassword}
          onChange={setNew}
          autoComplete="new-password"
        />
      </StepForm>
      {run.said}
    </Section>
  )
}

interface Session {
  readonly id: string
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly current: boolean
}

function Sessions() {
  const { accounts, shape } = useAdmin()
  const t = useStrings()
  const { time } = useFormats()
  const run = useRun()
  const logout = useLogout()
  const [sessions, again, unread] = useListed<Session>('listSessions')
  const end = (id: string) => run.go(() => accounts?.endSession?.(id), t('ended')).then(again)
  async function endAll() {
    ended.isWanted = true
    const result = await accounts?.logoutAll?.()
    ended.isWanted = result?.ok === true
    if (ended.isWanted) void logout({}, '/login', false)
    return result
  }
  return (
    <Section title={t('sessions')}>
      {unread}
      <ul className="rows">
        {sessions.map(({ id, createdAt, lastUsedAt, current }) => (
          <li key={id}>
            <span>
              {time(createdAt)}{' '}
              <span className="muted">
                {current ? t('current') : `${t('lastUsed')}: ${time(lastUsedAt)}`}
              </span>
            </span>
            {!current && (
              <button type="button" onClick={() => end(id)}>
                {t('end')}
              </button>
            )}
          </li>
        ))}
      </ul>
      {shape.accounts?.routes.logoutAll && (
        <button type="button" className="danger" onClick={() => run.go(endAll)}>
          {t('signOutAll')}
        </button>
      )}
      {run.said}
    </Section>
  )
}

interface Passkey {
  readonly id: string
  readonly name: string
  readonly lastUsedAt: string | null
}

function Passkeys() {
  const { accounts, shape } = useAdmin()
  const t = useStrings()
  const { time } = useFormats()
  const recent = useRecent()
  const [passkeys, again, unread] = useListed<Passkey>('listPasskeys')
  const [name, setName] = useState('')
  async function register() {
    // The browser's own dialog was closed, or it makes no passkeys.
    return told(await accounts?.passkeys.register({ name }), 0, t('passkeyFailed'))
  }
  return (
    <Section title={t('passkeys')}>
      {unread}
      <ul className="rows">
        {passkeys.map(({ id, name, lastUsedAt }) => (
          <li key={id}>
            <span>
              <bdi>{name}</bdi>{' '}
              <span className="muted">
                {t('lastUsed')}: {lastUsedAt ? time(lastUsedAt) : t('never')}
              </span>
            </span>
            <button
              type="button"
              onClick={() => recent.go(() => accounts?.deletePasskey?.(id), again, t('deleted'))}
            >
              {t('delete')}
            </button>
          </li>
        ))}
      </ul>
      {shape.accounts?.routes.createPasskey && (
        <StepForm
          action={t('addPasskey')}
          onSubmit={() =>
            recent.go(register, () => {
              setName('')
              again()
            })
          }
        >
          <Text label={t('name')} value={name} onChange={setName} autoComplete="off" />
        </StepForm>
      )}
      {recent.said}
    </Section>
  )
}
