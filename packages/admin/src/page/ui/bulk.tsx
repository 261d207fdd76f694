/**
 * What can be done with the selected records of a list.
 *
 * @module
 */

import { type ListControllerResult, type RaRecord, useDeleteMany, useUpdateMany } from 'ra-core'
import { useState } from 'react'
import { useRights, useSentence } from '../context.ts'
import type { Resource } from '../document.ts'
import type { Field } from '../fields.ts'
import { taken, wrong } from '../form-values.ts'
import { useFormats, useStrings } from '../i18n.ts'
import { isBox } from './controls.tsx'
import { Input } from './input.tsx'
import { Confirmation, Decision, Dialog, Icon, Notice } from './parts.tsx'

/** How many records can be selected at once across pages. */
const MOST = 250

/** The bar that appears with the first selected record. */
export function Bulk({ resource, list }: { resource: Resource; list: ListControllerResult }) {
  const t = useStrings()
  const { number } = useFormats()
  const rights = useRights()
  const [asked, setAsked] = useState<'delete' | 'update'>()
  const { said, clear, remove, update, selectAll } = useWrites(resource, list)
  const ask = (what: 'delete' | 'update') => {
    clear()
    setAsked(what)
  }
  const { selectedIds, total = 0 } = list
  const count = number(selectedIds.length)
  // What a new record may begin with is no limit for those that are there.
  const fields = resource.writable.update
    .filter(({ kind }) => kind !== 'file')
    .map(({ initial: _, ...field }) => field)
  const close = () => setAsked(undefined)
  if (selectedIds.length === 0) return said
  return (
    <>
      {said}
      <div className="bulk">
        <strong role="status">{t('selected', { count })}</strong>
        {selectedIds.length < total && total <= MOST && (
          <button type="button" className="link" onClick={selectAll}>
            {t('selectEverything', { count: number(total) })}
          </button>
        )}
        <span className="space" />
        {rights.may(resource, 'update') && fields.length > 0 && (
          <button type="button" onClick={() => ask('update')}>
            {t('byField')}
          </button>
        )}
        {rights.may(resource, 'delete') && (
          <button type="button" className="danger" onClick={() => ask('delete')}>
            <Icon name="trash" />
            {t('delete')}
          </button>
        )}
        <button type="button" className="quiet" onClick={() => list.onUnselectItems()}>
          {t('deselect')}
        </button>
      </div>
      {asked === 'delete' && (
        <Confirmation
          title={t('deleteMany', { count })}
          text={t('deleteText')}
          action={t('delete')}
          isDanger
          onConfirm={() => {
            close()
            remove()
          }}
          onClose={close}
        />
      )}
      {asked === 'update' && (
        <OneField
          fields={fields}
          onClose={close}
          onChoose={(data) => {
            close()
            update(data)
          }}
        />
      )}
    </>
  )
}

/** The writes of all selected records, and what came of them. */
function useWrites(resource: Resource, list: ListControllerResult) {
  const t = useStrings()
  const { number } = useFormats()
  const sentence = useSentence()
  const [said, setSaid] = useState<React.ReactNode>(null)
  const ids = list.selectedIds
  /** Reads the page anew. What is not there any more cannot be seen, so it must not stay selected. */
  async function leaveOut(): Promise<void> {
    const before = (list.data ?? []).map(({ id }) => id)
    const read = (await list.refetch()) as { data?: { data?: readonly RaRecord[] } } | undefined
    const now = read?.data?.data?.map(({ id }) => id) ?? before
    list.onSelect(ids.filter((id) => !before.includes(id) || now.includes(id)))
  }
  const options = {
    mutationMode: 'pessimistic',
    onSuccess: () => {
      const text = t('bulkDone', { count: number(ids.length) })
      setSaid(
        <Notice key={ids.join()} kind="done" takesFocus>
          {text}
        </Notice>,
      )
      list.onUnselectItems()
      // The app may have made more of it than was sent.
      list.refetch()
    },
    onError: (error: unknown) => {
      const { done } = error as { done?: readonly unknown[] }
      const values = { done: done?.length ?? 0, count: ids.length, message: sentence(error) }
      setSaid(<Notice kind="error">{done?.length ? t('bulkPart', values) : values.message}</Notice>)
      void leaveOut()
    },
  } as const
  const [removeMany] = useDeleteMany(resource.name, { ids }, options)
  const [updateMany] = useUpdateMany(resource.name, { ids }, options)
  return {
    said,
    clear: () => setSaid(null),
    // That of react-admin selects them in the store of the browser, which this list is not kept in.
    async selectAll() {
      try {
        const all = (await list.getData?.({ maxResults: MOST })) ?? []
        list.onSelect(all.map(({ id }) => id))
      } catch (error) {
        setSaid(<Notice kind="error">{sentence(error)}</Notice>)
      }
    },
    remove: () => removeMany(resource.name, { ids }),
    update: (data: Readonly<Record<string, unknown>>) => updateMany(resource.name, { ids, data }),
  }
}

function OneField(props: {
  fields: readonly Field[]
  onChoose: (data: Readonly<Record<string, unknown>>) => void
  onClose: () => void
}) {
  const { fields, onChoose, onClose } = props
  const t = useStrings()
  const [name, setName] = useState(fields[0]?.name)
  const [value, setValue] = useState<unknown>()
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const field = fields.find((one) => one.name === name)
  function choose(): void {
    if (!field) return
    // A box without its mark is shown before it is touched.
    const body = { [field.name]: value ?? (isBox(field) ? false : null) }
    const found = wrong([field], body, t)
    setErrors(found)
    if (Object.keys(found).length === 0) onChoose(body)
  }
  return (
    <Dialog title={t('byField')} onClose={onClose}>
      <label className="field">
        <span>{t('bulkField')}</span>
        <select
          value={name}
          onChange={({ target }) => {
            setName(target.value)
            setValue(undefined)
            setErrors({})
          }}
        >
          {fields.map((one) => (
            <option key={one.name} value={one.name}>
              {one.label}
            </option>
          ))}
        </select>
      </label>
      {field && (
        <Input
          key={name}
          field={field}
          path={field.name}
          value={value}
          onChange={(next) => setValue(taken(field, next))}
          errors={errors}
        />
      )}
      <Decision action={t('change')} onConfirm={choose} onClose={onClose} />
    </Dialog>
  )
}
