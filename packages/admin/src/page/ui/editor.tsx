/**
 * The form of a record: its fields, and what comes of saving it.
 *
 * @module
 */

import { type RaRecord, useRefresh } from 'ra-core'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import type { ClientError } from '../../../../../src/client/index.ts'
import { useAdmin, useSentence } from '../context.ts'
import type { Values } from '../data.ts'
import type { Resource } from '../document.ts'
import type { Field } from '../fields.ts'
import { changesOf, Draft, sent, taken, valuesOf, wrong } from '../form-values.ts'
import { useStrings } from '../i18n.ts'
import { storedOf } from '../lists.ts'
import { Conflict } from './conflict.tsx'
import { Delete } from './delete.tsx'
import { Input } from './input.tsx'
import { Notice, useDone } from './parts.tsx'
import { idOf, listPath, pathOf } from './value.tsx'

interface Edited {
  readonly resource: Resource
  /** The record as it was read; none for a new one. */
  readonly record?: RaRecord | undefined
  /** Called with why it may not be changed at all, which ends the form. */
  readonly onRefused?: (reason: string) => void
}

/** The form. */
export function Editor(props: Edited) {
  const { resource, record } = props
  const t = useStrings()
  const form = useForm(props)
  const { fields, values, set, errors, failure, isRestored, theirs } = form
  const others = Object.entries(errors).filter(
    ([path]) => !fields.some(({ name }) => path === name || path.startsWith(`${name}.`)),
  )
  return (
    <form ref={form.place} className="card" noValidate onSubmit={form.submit}>
      {isRestored && (
        <Notice kind="info">
          {t('draft')}{' '}
          <button type="button" className="link" onClick={form.reset}>
            {t('discard')}
          </button>
        </Notice>
      )}
      {fields.map((field) => (
        <Input
          key={`${field.name} ${form.versions[field.name]}`}
          field={field}
          path={field.name}
          value={values[field.name]}
          onChange={(value) => set(field, value)}
          errors={errors}
          {...(record && { before: record[field.name] ?? null })}
        />
      ))}
      {failure && <Notice kind="error">{failure}</Notice>}
      {others.map(([path, message]) => (
        <Notice kind="error" key={path}>
          {path}: {message}
        </Notice>
      ))}
      <Footer {...{ resource, record, form }} />
      {theirs && record && (
        <Conflict
          {...{ fields, theirs, mine: values, before: form.initial }}
          onClose={() => form.setTheirs(undefined)}
          onChoose={form.choose}
        />
      )}
    </form>
  )
}

type FormState = ReturnType<typeof useForm>

function Footer({ resource, record, form }: Edited & { form: FormState }) {
  const t = useStrings()
  const navigate = useNavigate()
  const { percent, isBusy, isChanged } = form
  return (
    <div className="footer">
      <button type="submit" className="primary" aria-disabled={!form.isReady}>
        {record ? t('save') : t('create')}
      </button>
      <button
        type="button"
        onClick={() => {
          form.reset()
          void navigate(listPath(resource))
        }}
      >
        {t('cancel')}
      </button>
      {percent !== undefined && (
        <label className="progress">
          {t('uploading', { percent })}
          <progress max={100} value={percent} />
        </label>
      )}
      {/* The head of the screen may be out of sight. */}
      <span role="status">{form.done}</span>
      {isChanged && !isBusy && <span className="muted">{t('unsaved')}</span>}
      <span className="space" />
      {record && <Delete {...{ resource, record }} onDelete={form.remove} />}
    </div>
  )
}

/** The values of the form, kept over a reload, and its writes. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its parts share the state of the form
function useForm({ resource, record, onRefused }: Edited) {
  const { data, rights } = useAdmin()
  const t = useStrings()
  const sentence = useSentence()
  const navigate = useNavigate()
  const location = useLocation()
  const refresh = useRefresh()
  const id = record && idOf(record)
  const fields = resource.writable[record ? 'update' : 'create']
  const initial = useMemo(() => valuesOf(fields, record), [fields, record])
  const owner = `${rights.who}/${resource.name}`
  const draft = useMemo(() => new Draft(owner, id), [owner, id])
  const [kept] = useState(() => draft.read())
  const [edits, setEdits] = useState<Values>(kept?.changes ?? {})
  const [isRestored, setRestored] = useState(kept !== undefined)
  /** What the edits were made to: the record may be read again meanwhile. */
  const base = useRef(kept?.version)
  const [versions, setVersions] = useState<Readonly<Record<string, number>>>({})
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const [failure, setFailure] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [percent, setPercent] = useState<number>()
  const [theirs, setTheirs] = useState<RaRecord>()
  const theirVersion = useRef<string>(undefined)
  const place = useRef<HTMLFormElement>(null)
  const values = { ...initial, ...edits }
  const changes = changesOf(initial, values)
  const isChanged = Object.keys(changes).length > 0
  const isReady = !isBusy && (isChanged || !record)
  const latest = useRef(edits)
  useEffect(() => {
    latest.current = edits
    draft.keep(changesOf(initial, { ...initial, ...edits }), base.current)
  }, [draft, initial, edits])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same failure may have other places
  useEffect(() => {
    // Those who listen or use keys go on where something is wrong.
    if (failure) place.current?.querySelector<HTMLElement>('[aria-invalid="true"], .error')?.focus()
  }, [failure, errors])

  /** Begins anew, but for what `later` has: edits of what is stored now. */
  function reset(later: Values = {}): void {
    const isLater = id !== undefined && Object.keys(later).length > 0
    base.current = isLater ? data.versionOf(resource.name, id) : undefined
    draft.keep(later, base.current)
    setEdits(later)
    setErrors({})
    setFailure('')
    setRestored(false)
    const ended = fields.filter(({ name }) => !(name in later))
    setVersions((before) => ({
      ...before,
      ...Object.fromEntries(ended.map(({ name }) => [name, (before[name] ?? 0) + 1])),
    }))
  }

  /** Ends what is said of the save before. */
  function goOn(): void {
    if (location.state) void navigate(location, { replace: true, state: null })
  }

  /** Says what is wrong, at its place. */
  async function tell(error: unknown): Promise<void> {
    const { status, fields: refused = {} } = error as Partial<ClientError>
    if (status === 412 && id !== undefined) {
      try {
        const read = await data.provider().getOne(resource.name, { id })
        theirVersion.current = data.versionOf(resource.name, id)
        return setTheirs(storedOf(read.data))
      } catch (unread) {
        return tell(unread)
      }
    }
    setErrors(refused)
    if (record && !rights.may(resource, 'update')) onRefused?.(sentence(error))
    const hasPlace = Object.keys(refused).length > 0
    setFailure(hasPlace && status === 400 ? t('fixErrors') : sentence(error))
  }

  /** What is to do once the edits are stored. */
  async function leave(written: RaRecord): Promise<void> {
    // They may have typed on meanwhile.
    const later = Object.fromEntries(
      Object.entries(latest.current).filter(([name, value]) => value !== edits[name]),
    )
    reset(record && later)
    if (!record) new Draft(owner, String(written.id)).keep(later, undefined)
    refresh()
    // Or have gone elsewhere.
    if (!place.current) return
    const state = { done: record ? t('changed') : t('createdNotice') }
    const isShown = record || resource.actions.read
    const path = isShown ? pathOf(resource, written.id) : listPath(resource)
    await navigate(path, { replace: record !== undefined, state })
  }

  /** Saves what was chosen of two changes over the other one, as it was shown. */
  async function choose(body: Values): Promise<void> {
    base.current = theirVersion.current
    if (Object.keys(body).length > 0) return save(body)
    setTheirs(undefined)
    reset()
    refresh()
  }

  async function save(body: Values): Promise<void> {
    goOn()
    setBusy(true)
    setErrors({})
    setFailure('')
    setTheirs(undefined)
    const onProgress = ({ loaded, total }: { loaded: number; total: number }) =>
      setPercent(total > 0 ? Math.round((loaded / total) * 100) : undefined)
    try {
      const written = await data.save(resource.name, id, sent(body, !record), {
        onProgress,
        ifMatch: base.current,
      })
      await leave(written)
    } catch (error) {
      await tell(error)
    }
    setBusy(false)
    setPercent(undefined)
  }

  async function remove(): Promise<void> {
    goOn()
    try {
      await data.remove(resource.name, String(id))
      draft.drop()
      refresh()
      const state = { done: t('deleted'), path: pathOf(resource, id) }
      await navigate(listPath(resource), { replace: true, state })
    } catch (error) {
      await tell(error)
    }
  }

  return {
    ...{ fields, initial, values, errors, failure, isBusy, percent, theirs, isRestored, versions },
    ...{ reset: () => reset(), choose, remove, setTheirs },
    ...{ place, isChanged, isReady, done: useDone().done },
    set(field: Field, value: unknown) {
      goOn()
      if (id !== undefined) base.current ??= data.versionOf(resource.name, id)
      setEdits((before) => ({ ...before, [field.name]: taken(field, value) }))
    },
    submit(event: FormEvent) {
      event.preventDefault()
      if (!isReady) return
      const body = record ? changes : values
      const found = wrong(fields, body, t)
      if (Object.keys(found).length === 0) return void save(body)
      setErrors(found)
      setFailure(t('fixErrors'))
    },
  }
}
