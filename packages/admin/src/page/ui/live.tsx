/**
 * A list that is followed: it is read anew when something in it changes, and the rows that changed have a mark.
 *
 * @module
 */

import type { Identifier, ListControllerResult } from 'ra-core'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { isPassing, useAdmin } from '../context.ts'
import type { Following } from '../data.ts'
import type { Resource } from '../document.ts'
import { useStrings } from '../i18n.ts'
import { type Narrowing, wantedOf } from '../rules.ts'

/** Which rows have changed lately, and whether they were there before. */
export type Marks = ReadonlyMap<Identifier, 'changed' | 'new'>

/** How often a list is read anew at most, and how soon one is followed again that could not be, in milliseconds. */
const PAUSE_MS = 1000
const AGAIN_MS = 5000
/** How long a row has its mark, in milliseconds. */
const MARK_MS = 30_000

/** Follows the list while the page can be seen, and says so. */
export function Live(props: {
  resource: Resource
  list: ListControllerResult
  marks: Marks
  onMarks: (marks: Marks) => void
}) {
  const { resource, list, marks, onMarks } = props
  const t = useStrings()
  const asked = useRef(new Set<Identifier>())
  const isFollowed = useFollowed(resource, list, asked.current)
  useMarks(list, asked.current, marks, onMarks)
  if (!isFollowed) return null
  return (
    <span className="live" role="status">
      {t('live')}
      <span className="hidden">
        {marks.size > 0 && ` ${t('liveChanged', { count: marks.size })}`}
      </span>
    </span>
  )
}

/** Whether the list is followed. Ids of records that changed go to `asked` when the list is read anew, not before. */
function useFollowed(resource: Resource, list: ListControllerResult, asked: Set<Identifier>) {
  const { data } = useAdmin()
  const [isFollowed, setFollowed] = useState(false)
  const [round, setRound] = useState(0)
  const isSeen = useSyncExternalStore(whenSeen, () => !document.hidden)
  const wanted = JSON.stringify(wantedOf(list.filterValues as Narrowing, resource))
  const refetch = useRef(list.refetch)
  useEffect(() => {
    refetch.current = list.refetch
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round follows it anew
  useEffect(() => {
    if (!isSeen) return
    const leaving = new AbortController()
    let known: ReadonlyMap<string, string> | undefined
    const changed = new Set<Identifier>()
    const readAnew = () => {
      for (const id of changed) asked.add(id)
      changed.clear()
      void refetch.current()
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const later = (call: () => void, ms: number) => {
      timer ??= setTimeout(() => {
        timer = undefined
        call()
      }, ms)
    }
    const on: Following = {
      signal: leaving.signal,
      onChange(records) {
        const now = new Map(records.map((record) => [record._id, JSON.stringify(record)]))
        if (known) noteDifferences(known, now, changed)
        setFollowed(true)
        // What was written before it was followed is there with the first records.
        later(readAnew, known ? PAUSE_MS : 0)
        known = now
      },
      onError({ status }) {
        setFollowed(false)
        leaving.abort()
        clearTimeout(timer)
        timer = undefined
        if (isPassing(status)) later(() => setRound((before) => before + 1), AGAIN_MS)
      },
    }
    void data.calls(resource.name).live(JSON.parse(wanted), on)
    return () => {
      clearTimeout(timer)
      leaving.abort()
      setFollowed(false)
    }
  }, [data, resource.name, wanted, isSeen, round, asked])
  return isFollowed
}

function noteDifferences(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
  changed: Set<Identifier>,
): void {
  for (const [id, text] of now) if (before.get(id) !== text) changed.add(id)
}

/** Marks the changed records of a page as soon as they are there, until it is another page or a while has passed. */
function useMarks(
  list: ListControllerResult,
  changed: Set<Identifier>,
  marks: Marks,
  onMarks: (marks: Marks) => void,
): void {
  const { data, page, perPage, sort, filterValues, isFetching, isPlaceholderData } = list
  const place = JSON.stringify([page, perPage, sort, filterValues])
  const before = useRef({ place, ids: new Set<Identifier>() })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is marked already is no reason to look again
  useEffect(() => {
    if (!data || isFetching || isPlaceholderData) return
    const isSame = before.current.place === place
    const found = data.flatMap(({ id }): [Identifier, 'changed' | 'new'][] =>
      isSame && changed.has(id) ? [[id, before.current.ids.has(id) ? 'changed' : 'new']] : [],
    )
    before.current = { place, ids: new Set(data.map(({ id }) => id)) }
    changed.clear()
    if (found.length > 0) onMarks(new Map([...marks, ...found]))
    else if (!isSame) onMarks(new Map())
  }, [data, isFetching, isPlaceholderData, place])
  useEffect(() => {
    if (marks.size === 0) return
    const timer = setTimeout(() => onMarks(new Map()), MARK_MS)
    return () => clearTimeout(timer)
  }, [marks, onMarks])
}

function whenSeen(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
