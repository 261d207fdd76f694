/**
 * Chooses a record of another resource by its name.
 *
 * @module
 */

import { useGetList, useGetOne } from 'ra-core'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useResourcesOf, useSentence } from '../context.ts'
import type { Resource } from '../document.ts'
import { nameOf, namingField } from '../fields.ts'
import { useStrings } from '../i18n.ts'
import { storedOf } from '../lists.ts'

interface Choice {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (id: string | undefined) => void
  /** Called when what was typed is left, and names no record; without it, that is dropped. */
  readonly onUnread?: () => void
  readonly id?: string
  readonly describedBy?: string | undefined
  readonly isInvalid?: boolean
  readonly isRequired?: boolean
}

/** A field of a reference: a search where the records can be listed, else the id itself. */
export function ReferenceInput({ model, ...choice }: Choice & { model: string }) {
  const [target] = useResourcesOf(model)
  const { label, value = '', onChange, id } = choice
  if (target) return <Combobox target={target} {...choice} />
  return (
    <input
      id={id}
      aria-label={id ? undefined : label}
      value={value}
      onChange={({ target: { value: text } }) => onChange(text === '' ? undefined : text)}
    />
  )
}

/** How many records are offered at once, and of how many, where the router has no search. */
const OFFERED = 20
const MOST = 1000
const REST_MS = 250

/** The records that `text` finds, by the router's search; without one, among them by their names. */
function useFound(target: Resource, text: string, isOpen: boolean) {
  const t = useStrings()
  const sentence = useSentence()
  const [wanted, setWanted] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text), REST_MS)
    return () => clearTimeout(timer)
  }, [text])
  const perPage = target.isSearchable ? OFFERED : MOST
  const sort = { field: namingField(target.fields) ?? '', order: 'ASC' as const }
  const filter = target.isSearchable && wanted !== '' ? { q: wanted } : {}
  const {
    data = [],
    isPlaceholderData,
    isFetching,
    error,
  } = useGetList(
    target.name,
    { filter, pagination: { page: 1, perPage }, ...(!target.isSearchable && { sort }) },
    {
      enabled: isOpen,
      retry: false,
      staleTime: target.isSearchable ? 0 : 60_000,
      placeholderData: (before) => before,
    },
  )
  const named = data.map((record) => ({
    id: String(record.id),
    name: nameOf(storedOf(record), target.fields),
  }))
  // What is found for an earlier text must not be chosen for this one.
  const isSettled = target.isSearchable && wanted === text && !isPlaceholderData
  const found = isSettled
    ? named
    : named.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())).slice(0, OFFERED)
  const isEmpty = isOpen && found.length === 0 && wanted === text && !isFetching
  const none = t(data.length < MOST ? 'emptySearch' : 'emptyFirst', { count: MOST })
  return { found, said: isEmpty && (error ? sentence(error) : none) }
}

/** What is typed into a combobox, until a record is chosen. */
function useTyping({ value, onChange, onUnread }: Choice) {
  const [typed, setTyped] = useState<string>()
  const [isOpen, setOpen] = useState(false)
  /** What it was when text was left that names no record. */
  const before = useRef<{ readonly value: string | undefined }>(undefined)
  const choose = (id: string | undefined) => {
    before.current = undefined
    onChange(id)
    setTyped(undefined)
    setOpen(false)
  }
  return {
    ...{ typed, isOpen, choose },
    type(text: string) {
      if (text === '') choose(undefined)
      setTyped(text)
      setOpen(true)
    },
    open: () => setOpen(true),
    close() {
      if (before.current) return choose(before.current.value)
      setTyped(undefined)
      setOpen(false)
    },
    leave(found: readonly Named[]) {
      setOpen(false)
      const [named, other] = found.filter(({ name }) => isSame(name, typed ?? ''))
      if (typed && named && !other) choose(named.id)
      else if (typed && onUnread) {
        before.current ??= { value }
        onUnread()
      } else setTyped(undefined)
    },
  }
}

interface Named {
  readonly id: string
  readonly name: string
}

const isSame = (name: string, typed: string) =>
  name.trim().toLowerCase() === typed.trim().toLowerCase()

/** What the record with an id is called. */
function useName(target: Resource, id = ''): string {
  const canRead = target.actions.read !== undefined
  const options = { enabled: id !== '' && canRead, retry: false, staleTime: 60_000 }
  const { data } = useGetOne(target.name, { id }, options)
  return id && (nameOf(data && storedOf(data), target.fields) || id)
}

/** A combobox, as WAI-ARIA describes one with a list of suggestions. */
function Combobox({ target, ...choice }: Choice & { target: Resource }) {
  const { label, id } = choice
  const t = useStrings()
  const own = useId()
  const typing = useTyping(choice)
  const { typed, isOpen, choose } = typing
  const [at, setAt] = useState(0)
  const name = useName(target, choice.value)
  const { found, said } = useFound(target, typed ?? '', isOpen)
  const onKeyDown = keysOf({
    ...typing,
    move: (by) => setAt((at + by + found.length) % Math.max(found.length, 1)),
    choose: () => found[at] && choose(found[at].id),
  })
  return (
    <span className="combobox">
      <input
        id={id}
        role="combobox"
        aria-label={id ? undefined : label}
        aria-expanded={isOpen && found.length > 0}
        aria-controls={`${own}list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && found[at] ? `${own}${at}` : undefined}
        aria-describedby={choice.describedBy}
        aria-invalid={choice.isInvalid}
        aria-required={choice.isRequired}
        autoComplete="off"
        placeholder={t('search')}
        value={typed ?? (isOpen ? '' : name)}
        onChange={({ target: { value: text } }) => {
          typing.type(text)
          setAt(0)
        }}
        onClick={typing.open}
        onBlur={() => typing.leave(found)}
        onKeyDown={onKeyDown}
      />
      <div
        role="listbox"
        id={`${own}list`}
        aria-label={label}
        hidden={!isOpen || found.length === 0}
      >
        {found.map((one, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the same
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the input
          <div
            role="option"
            key={one.id}
            id={`${own}${index}`}
            aria-selected={index === at}
            ref={index === at ? show : null}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(one.id)}
          >
            {one.name}
          </div>
        ))}
      </div>
      <p role="status" className="muted">
        {said}
      </p>
    </span>
  )
}

/** Keys move on beyond what the list shows. */
const show = (option: HTMLElement | null) => option?.scrollIntoView({ block: 'nearest' })

/** What keys do in a combobox. */
function keysOf(list: {
  isOpen: boolean
  move: (by: number) => void
  open: () => void
  choose: () => void
  close: () => void
}) {
  const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
  return (event: KeyboardEvent) => {
    const by = moves[event.key]
    if (by !== undefined) {
      event.preventDefault()
      if (list.isOpen) list.move(by)
      else list.open()
    } else if (list.isOpen && event.key === 'Enter') {
      event.preventDefault()
      list.choose()
    } else if (list.isOpen && event.key === 'Escape') {
      // A window around it stays open.
      event.preventDefault()
      list.close()
    }
  }
}
