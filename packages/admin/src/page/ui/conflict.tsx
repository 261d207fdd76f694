/**
 * Two changes of one record: theirs and mine, side by side.
 *
 * @module
 */

import type { RaRecord } from 'ra-core'
import { useState } from 'react'
import type { Values } from '../data.ts'
import type { Field } from '../fields.ts'
import { changesOf, hasFile, valuesOf } from '../form-values.ts'
import { useStrings } from '../i18n.ts'
import { Decision, Dialog } from './parts.tsx'
import { areSameFiles, fileName, Value } from './value.tsx'

/** Lets the user choose for each field that differs, and saves the choice over what is there now. */
export function Conflict(props: {
  fields: readonly Field[]
  theirs: RaRecord
  mine: Values
  before: Values
  onChoose: (changes: Values) => void
  onClose: () => void
}) {
  const { fields, theirs, mine, before, onChoose, onClose } = props
  const t = useStrings()
  const now = valuesOf(fields, theirs)
  const own = changesOf(before, mine)
  const found = Object.entries(changesOf(now, mine)).filter(([name]) => {
    const isFile = fields.some((one) => one.name === name && one.kind === 'file')
    return !isFile || name in own || !areSameFiles(now[name], mine[name])
  })
  const differing = Object.fromEntries(found)
  const [isMine, setMine] = useState<Readonly<Record<string, boolean>>>(() =>
    Object.fromEntries(Object.keys(differing).map((name) => [name, name in own])),
  )
  const chosen = Object.entries(differing).filter(([name]) => isMine[name])
  return (
    <Dialog title={t('conflict')} onClose={onClose}>
      <p>{t('conflictText')}</p>
      <div className="conflict">
        {fields
          .filter(({ name }) => name in differing)
          .map((field) => (
            <fieldset key={field.name}>
              <legend>{field.label}</legend>
              {[false, true].map((mineToo) => (
                <label key={String(mineToo)}>
                  <input
                    type="radio"
                    name={field.name}
                    checked={isMine[field.name] === mineToo}
                    onChange={() => setMine({ ...isMine, [field.name]: mineToo })}
                  />
                  <strong>{t(mineToo ? 'mine' : 'theirs')}</strong>
                  <Shown field={field} value={(mineToo ? mine : now)[field.name]} />
                </label>
              ))}
            </fieldset>
          ))}
      </div>
      <Decision
        action={t('save')}
        onConfirm={() => onChoose(Object.fromEntries(chosen))}
        onClose={onClose}
      />
    </Dialog>
  )
}

function Shown({ field, value }: { field: Field; value: unknown }) {
  if (hasFile(value)) {
    const names = [value].flat().map((one) => (one instanceof File ? one.name : fileName(`${one}`)))
    return <span>{names.join(', ')}</span>
  }
  return (
    <span>
      <Value field={field} value={value} isWhole />
    </span>
  )
}
