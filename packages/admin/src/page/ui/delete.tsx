/**
 * Deletes a record, once that is confirmed.
 *
 * @module
 */

import type { RaRecord } from 'ra-core'
import { useState } from 'react'
import { useRights } from '../context.ts'
import type { Resource } from '../document.ts'
import { nameOf } from '../fields.ts'
import { useStrings } from '../i18n.ts'
import { Confirmation, Icon } from './parts.tsx'

/** The button, for those who may. */
export function Delete(props: { resource: Resource; record: RaRecord; onDelete: () => void }) {
  const { resource, record, onDelete } = props
  const t = useStrings()
  const rights = useRights()
  const [isAsked, setAsked] = useState(false)
  if (!rights.may(resource, 'delete')) return null
  return (
    <>
      <button type="button" className="danger" onClick={() => setAsked(true)}>
        <Icon name="trash" />
        {t('delete')}
      </button>
      {isAsked && (
        <Confirmation
          title={t('deleteOne', { name: nameOf(record, resource.fields) })}
          text={t('deleteText')}
          action={t('delete')}
          isDanger
          onConfirm={() => {
            setAsked(false)
            onDelete()
          }}
          onClose={() => setAsked(false)}
        />
      )}
    </>
  )
}
