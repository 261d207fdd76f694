/**
 * Chooses the columns of a list. The choice stays.
 *
 * @module
 */

import { useState } from 'react'
import type { Resource } from '../document.ts'
import { useStrings } from '../i18n.ts'
import { Dialog, Icon } from './parts.tsx'

/** With more fields, they can be searched. */
const MANY = 12

/** A button, and the window that it opens. */
export function Columns(props: {
  resource: Resource
  columns: readonly string[]
  setColumns: (columns: readonly string[]) => void
}) {
  const { resource, columns, setColumns } = props
  const t = useStrings()
  const [isOpen, setOpen] = useState(false)
  const [wanted, setWanted] = useState('')
  const found = resource.fields.filter(({ label }) =>
    label.toLowerCase().includes(wanted.toLowerCase()),
  )
  const toggle = (name: string) => {
    const next = new Set(columns)
    if (!next.delete(name)) next.add(name)
    if (next.size > 0) setColumns([...next])
  }
  return (
    <>
      <button type="button" className="quiet" onClick={() => setOpen(true)}>
        <Icon name="columns" />
        {t('columns')}
      </button>
      {isOpen && (
        <Dialog title={t('columns')} onClose={() => setOpen(false)}>
          {resource.fields.length > MANY && (
            <input
              type="search"
              aria-label={t('filterColumns')}
              placeholder={t('filterColumns')}
              value={wanted}
              onChange={({ target }) => setWanted(target.value)}
            />
          )}
          <ul className="checks">
            {found.map(({ name, label }) => (
              <li key={name}>
                <label>
                  <input
                    type="checkbox"
                    checked={columns.includes(name)}
                    onChange={() => toggle(name)}
                  />
                  {label}
                </label>
              </li>
            ))}
          </ul>
          <div className="buttons end">
            <button type="button" className="primary" onClick={() => setOpen(false)}>
              {t('close')}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}
