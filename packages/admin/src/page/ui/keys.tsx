/**
 * The API keys of the user's account.
 *
 * @module
 */

import { useState } from 'react'
import { useAdmin } from '../context.ts'
import { useFormats, useStrings } from '../i18n.ts'
import { Once, Section, useListed, useRecent } from './account-parts.tsx'
import { StepForm, Text } from './sign-in.tsx'

interface Key {
  readonly id: string
  readonly name: string
  readonly lastUsedAt: string | null
  readonly allow: readonly { readonly mount: string; readonly actions: readonly string[] }[]
}

const ACTIONS = ['list', 'read', 'create', 'update', 'remove']

/** Lists keys, makes them and deletes them. */
export function Keys() {
  const { accounts } = useAdmin()
  const t = useStrings()
  const { time } = useFormats()
  const recent = useRecent()
  const [keys, again, unread] = useListed<Key>('listKeys')
  const [made, setMade] = useState('')
  return (
    <Section title={t('apiKeys')}>
      {made !== '' && (
        <Once text={t('keyShown')}>
          <pre>{made}</pre>
        </Once>
      )}
      {unread}
      <ul className="rows">
        {keys.map(({ id, name, lastUsedAt, allow }) => (
          <li key={id}>
            <span>
              <bdi>{name}</bdi>{' '}
              <span className="muted">
                {allow.map(({ mount, actions }) => `${mount}: ${actions.join(', ')}`).join('; ')} ·{' '}
                {t('lastUsed')}: {lastUsedAt ? time(lastUsedAt) : t('never')}
              </span>
            </span>
            <button
              type="button"
              onClick={() => recent.go(() => accounts?.deleteKey?.(id), again, t('deleted'))}
            >
              {t('delete')}
            </button>
          </li>
        ))}
      </ul>
      <NewKey
        onMake={(body) =>
          recent.go(
            () => accounts?.createKey?.(body),
            ({ key }: { key: string }) => {
              setMade(key)
              again()
            },
          )
        }
      />
      {recent.said}
    </Section>
  )
}

function NewKey({ onMake }: { onMake: (body: object) => unknown }) {
  const { shape } = useAdmin()
  const t = useStrings()
  const [name, setName] = useState('')
  const [mount, setMount] = useState('*')
  const [actions, setActions] = useState<readonly string[]>(['list', 'read'])
  const mounts = ['*', ...shape.resources.filter(({ isUsers }) => !isUsers).map((one) => one.mount)]
  const toggle = (action: string) =>
    setActions(ACTIONS.filter((one) => actions.includes(one) !== (one === action)))
  return (
    <StepForm action={t('addKey')} onSubmit={() => onMake({ name, allow: [{ mount, actions }] })}>
      <Text label={t('name')} value={name} onChange={setName} autoComplete="off" />
      <fieldset className="group">
        <legend>{t('keyWhere')}</legend>
        <select
          aria-label={t('keyWhere')}
          value={mount}
          onChange={({ target }) => setMount(target.value)}
        >
          {mounts.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <div className="checks-row">
          {ACTIONS.map((action) => (
            <label key={action} className="inline">
              <input
                type="checkbox"
                checked={actions.includes(action)}
                onChange={() => toggle(action)}
              />
              {action}
            </label>
          ))}
        </div>
      </fieldset>
    </StepForm>
  )
}
