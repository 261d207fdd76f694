/**
 * One record: to create, to change, or to read.
 *
 * @module
 */

import { type RaRecord, useGetOne, useRefresh } from 'ra-core'
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { isPassing, useRights, useSentence } from '../context.ts'
import type { Resource } from '../document.ts'
import { type Field, nameOf, titleOf } from '../fields.ts'
import { useStrings } from '../i18n.ts'
import { storedOf } from '../lists.ts'
import { Editor } from './editor.tsx'
import { Head, Instead, Loading, Notice, useDone } from './parts.tsx'
import { Related } from './related.tsx'
import { UserTools } from './user-tools.tsx'
import { idOf, Value } from './value.tsx'

const History = lazy(() => import('./history.tsx').then((found) => ({ default: found.History })))

/** The screen of a record; without an id, of a new one. */
export function Form({ resource, id }: { resource: Resource; id?: string | undefined }) {
  const sentence = useSentence()
  const { done } = useDone()
  const options = { enabled: id !== undefined, retry: false, staleTime: 0 }
  const read = useGetOne(resource.name, { id: id ?? '' }, options)
  const { error, isPending, refetch } = read
  const data = useMemo(() => read.data && storedOf(read.data), [read.data])
  const mayChange = useRights().may(resource, 'update')
  const refresh = useRefresh()
  const [round, setRound] = useState(0)
  /** Shows the record as it is now, in a form that begins anew. */
  async function again(): Promise<void> {
    await refetch()
    refresh()
    setRound(round + 1)
  }
  if (id === undefined) return <New resource={resource} />
  // Of one that is gone there may still be what was read before.
  const past = (isGone: boolean) => (
    <Past resource={resource} isOpen={isGone}>
      <History {...{ resource, id, record: isGone ? undefined : data }} onRestored={again} />
    </Past>
  )
  const { status } = (error ?? {}) as { status?: number }
  // What is typed stays while the record cannot be read again.
  if (error && !(data && isPassing(status))) {
    const isGone = status === 404
    return (
      <>
        <Instead title={titleOf(resource.model)}>{sentence(error)}</Instead>
        {isGone && past(true)}
      </>
    )
  }
  if (isPending || !data) return <Loading />
  return (
    <>
      <Head title={nameOf(data, resource.fields)} below={titleOf(resource.model)} />
      {!mayChange && <Notice kind="done">{done}</Notice>}
      <Notice kind="error">{error && sentence(error)}</Notice>
      <div className="columns">
        <Body key={round} resource={resource} record={data} />
        <div className="beside">
          <Facts resource={resource} record={data} />
          {resource.isUsers && <UserTools record={data} />}
          <Related resource={resource} id={id} />
          {past(false)}
        </div>
      </div>
    </>
  )
}

/** The form of a new record. An address that was kept leads here, too, when the caller may not create one. */
function New({ resource }: { resource: Resource }) {
  const t = useStrings()
  // As it was when the screen was opened: who is refused later keeps what they have typed.
  const [mayCreate] = useState(useRights().may(resource, 'create'))
  return (
    <>
      <Head title={t('createOne', { name: titleOf(resource.model) })} />
      {mayCreate ? <Editor resource={resource} /> : <Notice kind="error">{t('status.403')}</Notice>}
    </>
  )
}

/** What happened to the record, where it is kept; it is read when it is opened. */
function Past(props: { resource: Resource; isOpen: boolean; children: ReactNode }) {
  const { resource, children } = props
  const t = useStrings()
  const rights = useRights()
  const [isOpen, setOpen] = useState(props.isOpen)
  if (!rights.may(resource, 'history')) return null
  return (
    <details
      className="history"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{t('history')}</summary>
      {isOpen && <Suspense fallback={<Loading />}>{children}</Suspense>}
    </details>
  )
}

function Body({ resource, record }: { resource: Resource; record: RaRecord }) {
  const t = useStrings()
  const rights = useRights()
  const [refusal, setRefusal] = useState('')
  if (rights.may(resource, 'update')) {
    return <Editor {...{ resource, record }} onRefused={setRefusal} />
  }
  return (
    <div>
      <Notice kind="error" takesFocus>
        {refusal}
      </Notice>
      {!resource.isUsers && <Notice kind="info">{t('readOnly')}</Notice>}
      <div className="card reading">
        <Definitions fields={resource.fields} record={record} />
      </div>
    </div>
  )
}

/** What cannot be changed, beside a form. */
function Facts({ resource, record }: { resource: Resource; record: RaRecord }) {
  const rights = useRights()
  if (!rights.may(resource, 'update')) return null
  const written = new Set(resource.writable.update.map(({ name }) => name))
  const fields = resource.fields.filter(({ name }) => !written.has(name))
  return <Definitions fields={fields} record={record} />
}

function Definitions({ fields, record }: { fields: readonly Field[]; record: RaRecord }) {
  return (
    <dl>
      {fields.map((field) => (
        <div key={field.name}>
          <dt>{field.label}</dt>
          <dd>
            <Value field={field} value={record[field.name]} isWhole />
          </dd>
        </div>
      ))}
      <div>
        <dt>{idOf(record) === record.id ? 'Id' : '_id'}</dt>
        <dd>
          <code>{idOf(record)}</code>
        </dd>
      </div>
    </dl>
  )
}
