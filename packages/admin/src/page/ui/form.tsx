/**
 * One record: to create, to change, or to read.
 *
 * @module
 */

import { useGetOne } from 'ra-core'
import { useLocation } from 'react-router'
import { useRights, useSentence } from '../context.ts'
import type { Resource } from '../document.ts'
import { type Field, nameOf, titleOf } from '../fields.ts'
import { useStrings } from '../i18n.ts'
import { Editor } from './editor.tsx'
import { Head, Loading, Notice } from './parts.tsx'
import { Related } from './related.tsx'
import { UserTools } from './user-tools.tsx'
import { Value } from './value.tsx'

/** The screen of a record; without an id, of a new one. */
export function Form({ resource, id }: { resource: Resource; id?: string | undefined }) {
  const t = useStrings()
  const sentence = useSentence()
  const { state } = useLocation() as { state: { done?: string } | null }
  const options = { enabled: id !== undefined, retry: false, staleTime: 0 }
  const { data, error, isPending } = useGetOne(resource.name, { id: id ?? '' }, options)
  if (id === undefined) {
    return (
      <>
        <Head title={t('createOne', { name: titleOf(resource.model) })} />
        <Editor resource={resource} />
      </>
    )
  }
  if (error) return <Notice kind="error">{sentence(error)}</Notice>
  if (isPending) return <Loading />
  return (
    <>
      <Head title={nameOf(data, resource.fields)} below={titleOf(resource.model)} />
      <Notice kind="done">{state?.done}</Notice>
      <div className="columns">
        <Body resource={resource} record={data} />
        <div className="beside">
          <Facts resource={resource} record={data} />
          {resource.isUsers && <UserTools resource={resource} record={data} />}
          <Related resource={resource} id={id} />
        </div>
      </div>
    </>
  )
}

type Values = Readonly<Record<string, unknown>> & { readonly id: string }

function Body({ resource, record }: { resource: Resource; record: Values }) {
  const t = useStrings()
  const rights = useRights()
  if (rights.may(resource, 'update')) return <Editor {...{ resource, record }} />
  return (
    <div>
      {!resource.isUsers && <Notice kind="info">{t('readOnly')}</Notice>}
      <div className="card reading">
        <Definitions fields={resource.fields} record={record} />
      </div>
    </div>
  )
}

/** What cannot be changed, beside a form. */
function Facts({ resource, record }: { resource: Resource; record: Values }) {
  const rights = useRights()
  if (!rights.may(resource, 'update')) return null
  const written = new Set(resource.writable.update.map(({ name }) => name))
  const fields = resource.fields.filter(({ name }) => !written.has(name))
  return <Definitions fields={fields} record={record} />
}

function Definitions({ fields, record }: { fields: readonly Field[]; record: Values }) {
  return (
    <dl>
      {fields.map((field) => (
        <div key={field.name}>
          <dt>{field.label}</dt>
          <dd>
            <Value field={field} value={record[field.name]} />
          </dd>
        </div>
      ))}
      <div>
        <dt>Id</dt>
        <dd>
          <code>{record.id}</code>
        </dd>
      </div>
    </dl>
  )
}
