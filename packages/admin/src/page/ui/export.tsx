/**
 * The list as a CSV file: by the router where it exports, else page by page.
 *
 * @module
 */

import type { ListControllerResult } from 'ra-core'
import { useState } from 'react'
import { useAdmin, useSentence } from '../context.ts'
import type { Data, Values } from '../data.ts'
import type { Resource } from '../document.ts'
import type { Field } from '../fields.ts'
import { useFormats, useStrings } from '../i18n.ts'
import { csvOf } from '../lists.ts'
import { type Narrowing, wantedOf } from '../rules.ts'
import { Icon, Notice } from './parts.tsx'

/** The most records that are read page by page. */
const MOST = 5000

/** The button; what it came to is beside it. */
export function Export(props: {
  resource: Resource
  list: ListControllerResult
  fields: readonly Field[]
}) {
  const { resource, list, fields } = props
  const { data } = useAdmin()
  const t = useStrings()
  const { number } = useFormats()
  const sentence = useSentence()
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState('')
  const { field, order } = list.sort
  const isSorted = resource.sortable.has(field)
  const wanted = {
    ...wantedOf(list.filterValues as Narrowing, resource),
    ...(isSorted && { sort: (order === 'DESC' ? '-' : '') + field }),
  }
  async function run(): Promise<void> {
    if (isBusy) return
    setBusy(true)
    setFailure('')
    try {
      const { file, isCut } = await fileOf(data, resource, wanted, fields)
      saved(file, resource)
      if (isCut) setFailure(t('exportLoaded', { count: number(MOST) }))
    } catch (error) {
      setFailure(sentence(error))
    }
    setBusy(false)
  }
  return (
    <>
      {failure && <Notice kind="error">{failure}</Notice>}
      <button type="button" className="quiet" aria-disabled={isBusy} onClick={run}>
        <Icon name="download" />
        {t('export')}
      </button>
    </>
  )
}

/** The file: by the router, or made here of the first records. */
async function fileOf(data: Data, resource: Resource, wanted: Values, fields: readonly Field[]) {
  if (resource.hasCsv) {
    const result = await data.calls(resource.name).export('csv', wanted)
    if (!result.ok) throw result.error
    return { file: await result.data.blob(), isCut: false }
  }
  const rows: Values[] = []
  for await (const page of data.pages(resource.name, wanted)) {
    rows.push(...page)
    if (rows.length >= MOST) break
  }
  const text = csvOf(fields, rows.slice(0, MOST))
  return { file: new Blob([text], { type: 'text/csv' }), isCut: rows.length >= MOST }
}

function saved(file: Blob, { name }: Resource): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = `${name}.csv`
  link.click()
  URL.revokeObjectURL(link.href)
}
