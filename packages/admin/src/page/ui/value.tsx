/**
 * Values as they are read.
 *
 * @module
 */

import { useReference } from 'ra-core'
import { useState } from 'react'
import { Link } from 'react-router'
import { useResourcesOf } from '../context.ts'
import type { Resource } from '../document.ts'
import { type Field, nameOf } from '../fields.ts'
import { useFormats, useStrings } from '../i18n.ts'
import { storedOf } from '../lists.ts'
import { Icon } from './parts.tsx'

/** The path of a record's screen. The id is escaped twice: for the router, `%2F` is `/` however often it is escaped. */
export function pathOf(resource: Resource, id: unknown): string {
  return `/${resource.name}/record/${encodeURIComponent(encodeURIComponent(String(id)))}`
}

/** What the addresses of lists ended in, as they were left. */
export const left = new Map<string, string>()

/** The path of a list as it was left, for those who come back from a record. */
export const listPath = ({ name }: Resource): string => `/${name}${left.get(name) ?? ''}`

/** The id of a record as it was read, which may have another `id`. */
export const idOf = ({ _id, id }: Readonly<Record<string, unknown>>): string => `${_id ?? id}`

/** The id in such a path, as the router has it; people also write one that is escaped once. */
export const idIn: (part: string) => string = unescaped

/** A part of an address as people read it; as it is where it is not escaped. */
function unescaped(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

interface Shown {
  readonly field: Field
  readonly value: unknown
  /** Whether all of it is shown, as where there is room and nobody can open it. */
  readonly isWhole?: boolean
}

/** A value of a field. */
export function Value({ field, value, isWhole = false }: Shown) {
  if (value === undefined || value === null || value === '') return <span className="muted">–</span>
  if (field.kind === 'reference') return <Reference field={field} value={value} />
  if (field.kind === 'file') return <Files field={field} value={value} />
  if (Array.isArray(value)) return <List {...{ field, isWhole }} values={value} />
  if (isWhole && field.fields) return <Members fields={field.fields} value={value} />
  return <Plain field={field} value={value} />
}

function Plain({ field, value }: { field: Field; value: unknown }) {
  const t = useStrings()
  const { number, date, time } = useFormats()
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  if (typeof value === 'number') return <span className="number">{number(value)}</span>
  if (typeof value === 'object') return <code className="json">{JSON.stringify(value)}</code>
  const text = String(value)
  if (field.kind === 'datetime') return <time dateTime={text}>{time(text)}</time>
  if (field.kind === 'date') return <time dateTime={text}>{date(text)}</time>
  if (field.kind === 'enum') return <span className="chip">{text}</span>
  if (field.kind === 'url' && /^https?:/.test(text)) {
    return (
      <a href={text} rel="noreferrer" target="_blank">
        {text}
      </a>
    )
  }
  return text
}

/** How many elements of a list are shown. */
const SHOWN = 4

/** What an object has, each with its name. */
function Members({ fields, value }: { fields: readonly Field[]; value: unknown }) {
  const there = fields.filter(({ name }) => Object.hasOwn(Object(value), name))
  return (
    <span className="members">
      {there.map((field) => (
        <span key={field.name}>
          <span className="muted">{field.label}: </span>
          <Value field={field} value={(value as Record<string, unknown>)[field.name]} isWhole />
        </span>
      ))}
    </span>
  )
}

function List(props: { field: Field; values: readonly unknown[]; isWhole: boolean }) {
  const { field, values, isWhole } = props
  const count = isWhole ? values.length : SHOWN
  const item = field.item ?? { ...field, kind: 'text' as const }
  const shown = (value: unknown) => {
    if (item.fields && !isWhole) return nameOf(value, item.fields) || '…'
    return item.kind === 'enum' ? `${value}` : <Value {...{ value, isWhole }} field={item} />
  }
  return (
    <span className="chips">
      {values.slice(0, count).map((value, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are shown as they stand, and have no state
        <span className={isWhole && item.fields ? '' : 'chip'} key={at}>
          {shown(value)}
        </span>
      ))}
      {values.length > count && <span className="muted">+{values.length - count}</span>}
    </span>
  )
}

/** A link to another record, by its name. */
function Reference({ field, value }: { field: Field; value: unknown }) {
  const [target] = useResourcesOf(field.model)
  if (value instanceof Object) {
    const name = nameOf(value, target?.fields)
    const { _id } = value as { _id?: string }
    return target && _id ? <Link to={pathOf(target, _id)}>{name}</Link> : name
  }
  if (!target?.actions.read) return <code>{String(value)}</code>
  return <Named target={target} id={String(value)} />
}

function Named({ target, id }: { target: Resource; id: string }) {
  const options = { retry: false, staleTime: 60_000, onError: () => undefined }
  const { referenceRecord } = useReference({ reference: target.name, id, options })
  return (
    <Link to={pathOf(target, id)}>
      {referenceRecord ? nameOf(storedOf(referenceRecord), target.fields) : id}
    </Link>
  )
}

function Files({ field, value }: { field: Field; value: unknown }) {
  return (
    <span className="chips">
      {urlsOf(value).map((url) => (
        <FileLink key={url} url={url} accept={field.accept} />
      ))}
    </span>
  )
}

/** The URLs of files, which a field may have in objects. */
export function urlsOf(value: unknown): readonly string[] {
  const all = [value].flat().map((one) => (one as { url?: unknown } | undefined)?.url ?? one)
  return all.filter((one) => typeof one === 'string' && one !== '') as string[]
}

/** Whether two values have the same files: links to private ones are signed anew from time to time. */
export const areSameFiles = (one: unknown, other: unknown): boolean => {
  const plain = (value: unknown) => urlsOf(value).map((url) => url.split('?')[0])
  return `${plain(one)}` === `${plain(other)}`
}

/** The name of a file, as far as its URL has one. */
export const fileName = (url: string): string =>
  unescaped(url.split(/[?#]/)[0]?.split('/').at(-1) ?? url)

const IMAGE = /\.(?:jpe?g|png|gif|webp|avif|svg)(?:$|[?#])/i

/** A file: the image itself, or its name. */
export function FileLink({ url, accept }: { url: string; accept?: string | undefined }) {
  const [isBroken, setBroken] = useState(false)
  const name = fileName(url)
  const isImage = IMAGE.test(url) || /^image\/[^,]+(?:,\s*image\/[^,]+)*$/.test(accept ?? '')
  return (
    <a className="file" href={url} rel="noreferrer" target="_blank">
      {isImage && !isBroken ? (
        <img src={url} alt={name} loading="lazy" onError={() => setBroken(true)} />
      ) : (
        <>
          <Icon name="file" />
          <span>{name}</span>
        </>
      )}
    </a>
  )
}
