/**
 * Records of other resources that refer to one.
 *
 * @module
 */

import { useGetList } from 'ra-core'
import { Link } from 'react-router'
import { useAdmin, useRights } from '../context.ts'
import type { Resource } from '../document.ts'
import type { Field } from '../fields.ts'
import { useFormats, useStrings } from '../i18n.ts'

interface Referring {
  readonly from: Resource
  readonly field: Field
}

/** Links to the lists of records that refer to this one, with their number. */
export function Related({ resource, id }: { resource: Resource; id: string }) {
  const { shape } = useAdmin()
  const rights = useRights()
  const t = useStrings()
  const found = new Map<string, Referring>()
  for (const from of shape.resources.filter(rights.shows)) {
    for (const { field } of from.filters) {
      const key = `${from.model} ${field.name}`
      const model = field.model ?? field.item?.model
      if (model === resource.model && !found.has(key)) found.set(key, { from, field })
    }
  }
  if (found.size === 0) return null
  return (
    <section className="related">
      <h2>{t('related')}</h2>
      <ul>
        {[...found].map(([key, referring]) => (
          <li key={key}>
            <One {...referring} id={id} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function One({ from, field, id }: Referring & { id: string }) {
  const { number } = useFormats()
  const filter = { rules: [{ field: field.name, operator: 'eq', value: id }] }
  const pagination = { page: 1, perPage: 1 }
  const { total } = useGetList(from.name, { filter, pagination }, { retry: false })
  return (
    <Link to={`/${from.name}?filter=${encodeURIComponent(JSON.stringify(filter))}`}>
      {from.title}
      <span className="muted"> {field.label}</span>
      {total !== undefined && <span className="count">{number(total)}</span>}
    </Link>
  )
}
