/**
 * The list of a resource: found, filtered, sorted, page by page.
 *
 * @module
 */

import { type ListControllerResult, useListController } from 'ra-core'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { isPassing, useRights, useSentence } from '../context.ts'
import type { Resource } from '../document.ts'
import { type Field, namingField } from '../fields.ts'
import { useFormats, useStrings } from '../i18n.ts'
import { local } from '../kept.ts'
import { isNarrowing, type Narrowing } from '../rules.ts'
import { useAsked } from './asked.ts'
import { Bulk } from './bulk.tsx'
import { Columns } from './columns.tsx'
import { Export } from './export.tsx'
import { Filters } from './filters.tsx'
import type { Marks } from './live.tsx'
import { Button, Head, Icon, Instead, Loading, Notice, useDone } from './parts.tsx'
import { Table } from './table.tsx'
import { left } from './value.tsx'

const Chart = lazy(() => import('./chart.tsx').then((found) => ({ default: found.Chart })))
const Live = lazy(() => import('./live.tsx').then((found) => ({ default: found.Live })))

/** Columns that a list begins with, if the developer names none. */
const COLUMNS = 6
const SIZES = [10, 25, 50, 100]
/** How long typing has to rest before it is searched for, in milliseconds. */
const REST_MS = 300

/** The screen of a resource's list. */
export function List({ resource }: { resource: Resource }) {
  const t = useStrings()
  const { search } = useLocation()
  if (isNarrowing(new URLSearchParams(search).get('filter'))) return <Narrowed {...{ resource }} />
  return (
    <Instead title={resource.title}>
      {t('unreadableFilter')} <Link to={`/${resource.name}`}>{t('clearFilters')}</Link>
    </Instead>
  )
}

function Narrowed({ resource }: { resource: Resource }) {
  const t = useStrings()
  const { number } = useFormats()
  const { search } = useLocation()
  useEffect(() => void left.set(resource.name, search))
  const list = useListController({
    resource: resource.name,
    perPage: 25,
    // An address says all of it: react-admin would open one without parameters as the list was left, whoever sent it.
    storeKey: false,
    disableAuthentication: true,
    queryOptions: { onError: () => undefined },
  })
  const [columns, setColumns] = useColumns(resource)
  const [hasChart, setChart] = useState(false)
  const [isFiltering, setFiltering] = useState(false)
  const fields = columns.flatMap((name) => resource.fields.filter((one) => one.name === name))
  const [marks, setMarks] = useState<Marks>(new Map())
  const { rules = [] } = list.filterValues as Narrowing
  // They stay while none is complete, as when a value is typed anew.
  if (rules.length > 0 && !isFiltering) setFiltering(true)
  return (
    <>
      <Head
        title={resource.isUsers && resource.title === 'Users' ? t('users') : resource.title}
        below={
          list.total !== undefined && (
            <span role="status">{t('recordCount', { count: number(list.total) })}</span>
          )
        }
      >
        <Create resource={resource} />
      </Head>
      <Done resource={resource} />
      <div className="toolbar">
        {resource.isSearchable && <Search list={list} resource={resource} />}
        {resource.filters.length > 0 && (
          <Toggle
            name="filters"
            isOpen={isFiltering}
            onToggle={setFiltering}
            count={rules.length}
          />
        )}
        {resource.groups && <Toggle name="chart" isOpen={hasChart} onToggle={setChart} />}
        <span className="space" />
        {resource.isLive && (
          <Suspense>
            <Live {...{ resource, list, marks }} onMarks={setMarks} />
          </Suspense>
        )}
        <Columns {...{ resource, columns, setColumns }} />
        <Export {...{ resource, list, fields }} />
        <button type="button" className="quiet" onClick={() => list.refetch()}>
          <Icon name="refresh" />
          <span className="hidden">{t('refresh')}</span>
        </button>
      </div>
      {isFiltering && <Filters {...{ resource, list }} />}
      {hasChart && (
        <Suspense fallback={<Loading />}>
          <Chart resource={resource} narrowing={list.filterValues as Narrowing} />
        </Suspense>
      )}
      <Bulk {...{ resource, list }} />
      <Found {...{ resource, list, fields, marks }} />
    </>
  )
}

interface Listed {
  readonly resource: Resource
  readonly list: ListControllerResult
}

/** What was done on the screen before. */
function Done({ resource }: { resource: Resource }) {
  const t = useStrings()
  const rights = useRights()
  const { done, path } = useDone()
  if (!done) return null
  return (
    <Notice kind="done">
      {done} {path && rights.may(resource, 'history') && <Link to={path}>{t('history')}</Link>}
    </Notice>
  )
}

function Create({ resource }: { resource: Resource }) {
  const t = useStrings()
  const rights = useRights()
  if (!rights.may(resource, 'create')) return null
  return (
    <Link className="button primary" to={`/${resource.name}/create`}>
      <Icon name="plus" />
      {t('create')}
    </Link>
  )
}

function Toggle(props: {
  name: 'filters' | 'chart'
  isOpen: boolean
  onToggle: (isOpen: boolean) => void
  count?: number
}) {
  const { name, isOpen, onToggle, count = 0 } = props
  const t = useStrings()
  return (
    <button type="button" aria-expanded={isOpen} onClick={() => onToggle(!isOpen)}>
      <Icon name={name === 'chart' ? 'chart' : 'filter'} />
      {t(name)}
      {count > 0 && <span className="count">{count}</span>}
    </button>
  )
}

function Search({ list, resource }: Listed) {
  const t = useStrings()
  const current = (list.filterValues as Narrowing).q ?? ''
  const [text, setText] = useState(current)
  const { filterValues, setFilters } = list
  const ask = useAsked(current, () => setText(current))
  // biome-ignore lint/correctness/useExhaustiveDependencies(ask): it is made anew by each call
  useEffect(() => {
    if (text === current) return
    const timer = setTimeout(() => {
      ask(text)
      setFilters({ ...filterValues, q: text })
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [text, current, filterValues, setFilters])
  return (
    <span className="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={t('searchFor', { name: resource.title })}
        placeholder={t('search')}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </span>
  )
}

/** The records of the page, or why there are none. */
function Found(props: Listed & { fields: readonly Field[]; marks: Marks }) {
  const { list } = props
  const t = useStrings()
  const sentence = useSentence()
  if (list.isPending) return <Loading />
  if (list.error) {
    const { status } = list.error as { status?: number }
    return (
      <>
        <Notice kind="error">{sentence(list.error)}</Notice>
        {/* Another order may be the way out, and what was read before is better than nothing. */}
        {(status === 400 || (list.data && isPassing(status))) && <Table {...props} />}
      </>
    )
  }
  const { q, rules = [] } = list.filterValues as Narrowing
  if (list.data?.length) {
    return (
      <>
        <Table {...props} />
        <Paging list={list} />
      </>
    )
  }
  const isNarrowed = q !== undefined || rules.length > 0
  return (
    <div className="empty">
      <p role="status">{t(isNarrowed ? 'emptySearch' : 'empty')}</p>
      {isNarrowed && (
        <button type="button" onClick={() => list.setFilters({})}>
          {t('clearFilters')}
        </button>
      )}
    </div>
  )
}

function Paging({ list }: { list: ListControllerResult }) {
  const t = useStrings()
  const { number } = useFormats()
  const { page, perPage, total, setPage, setPerPage } = list
  const pages = total === undefined ? undefined : Math.max(1, Math.ceil(total / perPage))
  return (
    <nav className="paging" aria-label={t('page', { page: number(page) })}>
      <label>
        <span className="muted">{t('perPage')}</span>
        <select value={perPage} onChange={({ target }) => setPerPage(Number(target.value))}>
          {SIZES.map((size) => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
      <span className="space" />
      <span className="muted" role="status">
        {pages === undefined
          ? t('page', { page: number(page) })
          : t('pageOf', { page: number(page), pages: number(pages) })}
      </span>
      <Button isOff={!list.hasPreviousPage} onClick={() => setPage(page - 1)}>
        <Icon name="left" />
        <span className="hidden">{t('previous')}</span>
      </Button>
      <Button isOff={!list.hasNextPage} onClick={() => setPage(page + 1)}>
        <Icon name="right" />
        <span className="hidden">{t('next')}</span>
      </Button>
    </nav>
  )
}

/** The chosen columns. They stay in this browser, over a sign-out too, which ends the rest of what the page keeps. */
function useColumns(resource: Resource) {
  const key = `fieldgate-admin.columns.${resource.name}`
  const [columns, setColumns] = useState<readonly string[]>(() => {
    const kept = local.getItem(key)
    const known = resource.fields.map(({ name }) => name)
    const there = (JSON.parse(kept ?? '[]') as string[]).filter((name) => known.includes(name))
    // A new version of the app may have none of them any more.
    return there.length > 0 ? there : defaultColumns(resource)
  })
  const choose = (next: readonly string[]) => {
    local.setItem(key, JSON.stringify(next))
    setColumns(next)
  }
  return [columns, choose] as const
}

/** The name of a record first, then what is short enough for a column. */
function defaultColumns({ columns, fields }: Resource): readonly string[] {
  if (columns) return columns
  const naming = namingField(fields)
  const short = fields.filter(
    ({ name, kind }) => name !== naming && !['long', 'json', 'object'].includes(kind),
  )
  return [...(naming ? [naming] : []), ...short.map(({ name }) => name)].slice(0, COLUMNS)
}
