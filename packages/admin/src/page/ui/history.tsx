/**
 * What happened to a record, and what it can be made again.
 *
 * @module
 */

import { useEffect, useState } from 'react'
import { useAdmin, useRights, useSentence } from '../context.ts'
import type { Change } from '../data.ts'
import type { Resource } from '../document.ts'
import { type Field, titleOf } from '../fields.ts'
import { useFormats, useStrings } from '../i18n.ts'
import { Confirmation, Loading, Notice } from './parts.tsx'
import { Value } from './value.tsx'

interface Kept {
  readonly resource: Resource
  readonly id: string
  /** The record as it was read last: when it is another, so is its history. */
  readonly record: unknown
  readonly onRestored: () => unknown
}

/** The changes of a record, the latest first. */
export function History(props: Kept) {
  const { resource } = props
  const t = useStrings()
  const rights = useRights()
  const [asked, setAsked] = useState<Change>()
  const { changes, next, failure, isDone, more, restore } = useHistory(props)
  const { time } = useFormats()
  const isOffered = rights.may(resource, 'restore')
  const last = props.record ? changes?.[0] : undefined
  if (!changes && failure === '') return <Loading />
  return (
    <>
      <Notice kind="error">{failure}</Notice>
      <Notice kind="done">{isDone && t('restored')}</Notice>
      {changes?.length === 0 && <p className="muted">{t('historyEmpty')}</p>}
      <ol className="changes">
        {changes?.map((change) => (
          <li key={change.id}>
            <p>
              <strong>{t(`change.${change.kind}`)}</strong>{' '}
              <time dateTime={change.at}>{time(change.at)}</time>
              <span className="muted">
                {' '}
                · <By who={change.by} />
              </span>
            </p>
            {change.kind === 'updated' && <Differences {...{ resource, change }} />}
            {isOffered && change !== last && (
              <button type="button" className="link" onClick={() => setAsked(change)}>
                {t('restore')}
                <span className="hidden"> {time(change.at)}</span>
              </button>
            )}
          </li>
        ))}
      </ol>
      {next && (
        <button type="button" onClick={more}>
          {t('older')}
        </button>
      )}
      {asked && (
        <Confirmation
          title={t('restore')}
          text={t(asked.kind === 'removed' ? 'restoreRemoved' : 'restoreText', {
            time: time(asked.at),
          })}
          action={t('restore')}
          onConfirm={() => {
            setAsked(undefined)
            void restore(asked)
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}

/** Who made a change: a user by name where the caller may see users. */
function By({ who }: { who: string | null }) {
  const t = useStrings()
  const rights = useRights()
  if (who === null) return t('nobody')
  if (who === rights.who) return t('you')
  return who.startsWith('key:') ? t('byKey') : <Value field={USER} value={who} />
}

const PLAIN = { isRequired: false, isNullable: true } as const
const USER: Field = { ...PLAIN, name: 'by', label: '', kind: 'reference', model: 'User' }

/** What scrolls must be reached by keys. */
const reached = (list: HTMLElement | null) => {
  if (list && list.scrollHeight > list.clientHeight) list.tabIndex = 0
}

function Differences({ resource, change }: { resource: Resource; change: Change }) {
  const t = useStrings()
  // When it was changed is said already.
  const shown = Object.entries(change.changes).filter(([name]) => name !== 'updatedAt')
  return (
    <dl ref={reached}>
      {shown.map(([name, { from, to }]) => {
        const known = resource.fields.find((one) => one.name === name)
        const field: Field = known ?? { ...PLAIN, name, kind: 'json', label: titleOf(name) }
        return (
          <div key={name}>
            <dt>{field.label}</dt>
            <dd>
              <del>
                <span className="hidden">{t('before')} </span>
                <Value field={field} value={from} isWhole />
              </del>
              <span aria-hidden="true"> → </span>
              <ins>
                <span className="hidden">{t('after')} </span>
                <Value field={field} value={to} isWhole />
              </ins>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

/** The history so far, page by page, and its restore. */
function useHistory({ resource, id, record, onRestored }: Kept) {
  const { data } = useAdmin()
  const sentence = useSentence()
  const [changes, setChanges] = useState<readonly Change[]>()
  const [next, setNext] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const [isDone, setDone] = useState(false)
  const { name } = resource
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the record is one of its history
  useEffect(() => {
    let isCurrent = true
    data.history(name, id, undefined).then(
      (page) => {
        if (!isCurrent) return
        setChanges(page.changes)
        setNext(page.next)
        setFailure(undefined)
      },
      (error: unknown) => isCurrent && setFailure(error),
    )
    return () => {
      isCurrent = false
    }
  }, [data, name, id, record])
  return {
    changes,
    next,
    isDone,
    failure: failure ? sentence(failure) : '',
    async more() {
      try {
        const page = await data.history(name, id, next)
        setChanges([...(changes ?? []), ...page.changes])
        setNext(page.next)
      } catch (error) {
        setFailure(error)
      }
    },
    async restore(change: Change) {
      setDone(false)
      try {
        await data.restore(name, id, change.id)
        setFailure(undefined)
        setDone(true)
        onRestored()
      } catch (error) {
        setFailure(error)
      }
    },
  }
}
