/**
 * Records as a table; on narrow screens each is a block.
 *
 * @module
 */

import type { ListControllerResult, RaRecord } from 'ra-core'
import { Link } from 'react-router'
import { useRights } from '../context.ts'
import type { Resource } from '../document.ts'
import { type Field, isSeen, nameOf } from '../fields.ts'
import { useStrings } from '../i18n.ts'
import { storedOf } from '../lists.ts'
import type { Marks } from './live.tsx'
import { Icon } from './parts.tsx'
import { idOf, pathOf, Value } from './value.tsx'

interface Shown {
  readonly resource: Resource
  readonly list: ListControllerResult
  readonly fields: readonly Field[]
  readonly marks: Marks
}

const NUMBERS = ['number', 'integer']
/** Values that lead elsewhere, so they cannot lead to their record. */
const LINKS = ['reference', 'file', 'url']

const isLink = ({ kind, item }: Field): boolean =>
  LINKS.includes(kind) || (item !== undefined && isLink(item))

/** The table. */
export function Table(props: Shown) {
  const { resource, list, fields } = props
  const rights = useRights()
  const isSelectable = rights.may(resource, 'delete') || rights.may(resource, 'update')
  const records = list.data ?? []
  return (
    <section
      className="scroll"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
      tabIndex={0}
      aria-label={resource.title}
      aria-busy={list.isFetching}
    >
      <table>
        <thead>
          <tr>
            {isSelectable && <SelectPage list={list} />}
            {fields.map((field) => (
              <Heading key={field.name} {...{ resource, list, field }} />
            ))}
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <Row key={record.id} {...props} {...{ record: storedOf(record), isSelectable }} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Heading({ resource, list, field }: Omit<Shown, 'fields' | 'marks'> & { field: Field }) {
  const { name, label, kind } = field
  const isSorted = list.sort.field === name
  const isDown = isSorted && list.sort.order === 'DESC'
  const order = isDown ? 'descending' : 'ascending'
  const className = NUMBERS.includes(kind) ? 'right' : ''
  if (!resource.sortable.has(name)) {
    return (
      <th scope="col" className={className}>
        {label}
      </th>
    )
  }
  return (
    <th scope="col" className={className} aria-sort={isSorted ? order : 'none'}>
      <button
        type="button"
        className="sort"
        onClick={() => list.setSort({ field: name, order: isSorted && !isDown ? 'DESC' : 'ASC' })}
      >
        {label}
        <span className={isSorted ? '' : 'faint'}>
          <Icon name={isDown ? 'down' : 'up'} />
        </span>
      </button>
    </th>
  )
}

function SelectPage({ list }: { list: ListControllerResult }) {
  const t = useStrings()
  const ids = (list.data ?? []).map(({ id }) => id)
  // They are on other pages.
  const others = list.selectedIds.filter((id) => !ids.includes(id))
  const isAll = ids.length > 0 && ids.every((id) => list.selectedIds.includes(id))
  return (
    <th scope="col" className="check">
      <input
        type="checkbox"
        aria-label={t('selectAll')}
        checked={isAll}
        onChange={() => list.onSelect(isAll ? others : [...others, ...ids])}
      />
    </th>
  )
}

function Row(props: Shown & { record: RaRecord; isSelectable: boolean }) {
  const { resource, list, fields, marks, record, isSelectable } = props
  const t = useStrings()
  const name = nameOf(record, resource.fields)
  const id = idOf(record)
  const isSelected = list.selectedIds.includes(id)
  const mark = marks.get(id)
  const path = pathOf(resource, id)
  const leading = fields.findIndex((field) => !isLink(field))
  return (
    <tr className={isSelected ? 'selected' : mark ? 'fresh' : ''}>
      {isSelectable && (
        <td className="check">
          <input
            type="checkbox"
            aria-label={t('selectRow', { name })}
            checked={isSelected}
            onChange={() => list.onToggleItem(id)}
          />
        </td>
      )}
      {fields.map((field, at) => (
        <td
          key={field.name}
          data-label={field.label}
          className={NUMBERS.includes(field.kind) ? 'right' : ''}
        >
          {at === 0 && leading < 0 && (
            <>
              <Link className="name" to={path}>
                {name}
              </Link>
              {' · '}
            </>
          )}
          {at === leading ? (
            <Link className="name" to={path}>
              {isSeen(`${record[field.name] ?? ''}`) ? (
                <Value field={field} value={record[field.name]} />
              ) : (
                name
              )}
            </Link>
          ) : (
            <Value field={field} value={record[field.name]} />
          )}
          {at === 0 && mark && <span className="count">{t(`mark.${mark}`)}</span>}
        </td>
      ))}
    </tr>
  )
}
