/**
 * Groups of a list's records as bars, where the router makes groups.
 *
 * @module
 */

import { useEffect, useState } from 'react'
import { useAdmin, useSentence } from '../context.ts'
import type { Values } from '../data.ts'
import type { Resource } from '../document.ts'
import { titleOf } from '../fields.ts'
import { useFormats, useStrings } from '../i18n.ts'
import { type Narrowing, wantedOf } from '../rules.ts'
import { Notice } from './parts.tsx'
import { Value } from './value.tsx'

const BARS = 20

interface Group {
  readonly key: unknown
  readonly value: number
}

/** The chart, with the choice of what it shows. */
export function Chart({ resource, narrowing }: { resource: Resource; narrowing: Narrowing }) {
  const t = useStrings()
  const { number } = useFormats()
  const { by: names = [], of = [] } = resource.groups ?? {}
  const [by, setBy] = useState(names[0] ?? '')
  const [measure, setMeasure] = useState('count')
  const { groups, hasMore, failure } = useGroups(resource, narrowing, by, measure)
  const field = resource.fields.find(({ name }) => name === by.split(':')[0])
  const most = Math.max(...groups.map(({ value }) => value), 0)
  const measures = of.flatMap((name) => ['sum', 'avg', 'min', 'max'].map((one) => `${one}.${name}`))
  return (
    <figure className="chart">
      <figcaption className="toolbar">
        <Choice label={t('by')} value={by} values={names} onChange={setBy} />
        <Choice
          label={t('measure')}
          value={measure}
          values={['count', ...measures]}
          onChange={setMeasure}
        />
      </figcaption>
      <Notice kind="error">{failure}</Notice>
      <table>
        <caption className="hidden">{t('bars', { by: titleOf(by) })}</caption>
        <tbody>
          {groups.map(({ key, value }) => (
            <tr key={String(key)}>
              <th scope="row">
                {field && !by.includes(':') ? (
                  <Value field={field} value={key} />
                ) : (
                  String(key ?? '–')
                )}
              </th>
              <td className="bar-cell" aria-hidden="true">
                {/* biome-ignore lint/a11y/noSvgWithoutTitle: the number is beside it */}
                <svg className="bar-drawn" viewBox="0 0 100 8" preserveAspectRatio="none">
                  <rect width={most > 0 ? (Math.max(value, 0) / most) * 100 : 0} height="8" />
                </svg>
              </td>
              <td className="right">{number(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasMore && <p className="muted">{t('more')}</p>}
    </figure>
  )
}

function Choice(props: {
  label: string
  value: string
  values: readonly string[]
  onChange: (value: string) => void
}) {
  const { label, value, values, onChange } = props
  const t = useStrings()
  return (
    <label className="match">
      {label}
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        {values.map((one) => (
          <option key={one} value={one}>
            {one === 'count' ? t('count') : titleOf(one.replace(':', ' by '))}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The groups of the records that the list is narrowed to. */
function useGroups(resource: Resource, narrowing: Narrowing, by: string, measure: string) {
  const { data } = useAdmin()
  const sentence = useSentence()
  const [shown, setShown] = useState({
    groups: [] as readonly Group[],
    hasMore: false,
    failure: undefined as unknown,
  })
  const wanted = JSON.stringify(wantedOf(narrowing, resource))
  useEffect(() => {
    let isCurrent = true
    const [kind = '', of = ''] = measure.split('.')
    const isByTime = by.includes(':')
    void data
      .calls(resource.name)
      .aggregate({
        ...JSON.parse(wanted),
        by: [by],
        ...(kind === 'count' ? { count: true } : { [kind]: [of] }),
        // Of many times, the latest are shown, in their order.
        ...{ sort: isByTime ? `-${by}` : `-${measure}`, limit: isByTime ? BARS * 2 : BARS },
      })
      .then((result) => {
        if (!isCurrent) return
        if (!result.ok) return setShown({ groups: [], hasMore: false, failure: result.error })
        const groups = result.data.map((group) => ({
          key: group[by] ?? null,
          value: Number((kind === 'count' ? group.count : (group[kind] as Values)?.[of]) ?? 0),
        }))
        if (isByTime) groups.reverse()
        setShown({ groups, hasMore: result.pagination?.hasMore === true, failure: undefined })
      })
    return () => {
      isCurrent = false
    }
  }, [data, resource.name, wanted, by, measure])
  return { ...shown, failure: shown.failure === undefined ? '' : sentence(shown.failure) }
}
