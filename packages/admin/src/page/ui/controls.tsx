/**
 * Values as they are written: one control for each kind of field.
 *
 * @module
 */

import { type SyntheticEvent, useRef, useState } from 'react'
import { type Field, isFilled } from '../fields.ts'
import { UNREADABLE } from '../form-values.ts'
import { useStrings } from '../i18n.ts'
import { FileInput } from './file-input.tsx'
import { ReferenceInput } from './reference.tsx'

/** What a control is given. */
export interface InputProps {
  readonly field: Field
  /** Where the value is in the record, as `fields` of an error names it. */
  readonly path: string
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  readonly errors: Readonly<Record<string, string>>
  /** The value before, of a record that is there: what it may become depends on it. */
  readonly before?: unknown
  /** What to call it, instead of the field's name. */
  readonly label?: string
}

/** What a control says of itself to those who listen. */
export interface Described {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean
  readonly 'aria-required': boolean
}

/** The control of a field, but for lists and objects. */
export function Control(props: InputProps & { label: string; described: Described }) {
  const { field, value, onChange, described, label } = props
  switch (field.kind) {
    case 'boolean':
      return <Truth {...props} />
    case 'enum':
      return <Choice {...props} />
    case 'reference':
      return (
        <ReferenceInput
          model={field.model ?? ''}
          {...{ label, onChange }}
          value={typeof value === 'string' ? value : undefined}
          onUnread={() => onChange(UNREADABLE)}
          id={described.id}
          describedBy={described['aria-describedby']}
          isInvalid={described['aria-invalid']}
          isRequired={isFilled(field)}
        />
      )
    case 'file':
      return <FileInput {...{ field, value, before: props.before, onChange, described }} />
    case 'json':
    case 'list':
    case 'object':
      return <Json {...props} />
    case 'number':
    case 'integer':
      return <NumberInput {...props} />
    case 'datetime':
      return (
        <Native
          {...{ value, onChange, described, shown: localOf(value) }}
          type="datetime-local"
          step="any"
          max={LATEST.datetime}
          read={(text) => instantOf(text) ?? UNREADABLE}
        />
      )
    case 'date':
      return (
        <Native
          {...{ value, onChange, described, shown: textOf(value) }}
          type="date"
          max={LATEST.date}
          read={(text) => text}
        />
      )
    case 'email':
    case 'long':
    case 'text':
    case 'url':
      return <Text {...props} />
  }
}

/** What is longer is written in several lines. */
const LINE = 120

/** A text. In a control of one line, the browser drops the ends of lines. */
function Text({ field, value, onChange, described }: InputProps & { described: Described }) {
  const text = textOf(value)
  const hasLines = useRef(field.kind === 'long' || text.length > LINE)
  // It stays so while it is written.
  hasLines.current ||= /[\r\n]/.test(text)
  const rest = {
    ...described,
    value: text,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  }
  if (hasLines.current) return <textarea {...rest} rows={5} />
  return <input {...rest} type={field.kind} autoComplete="off" />
}

/** A word that the app has read as a number or as true is shown as such. */
const textOf = (value: unknown) =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : ''

/** An instant as the browser's control takes it: in local time. */
export function localOf(value: unknown): string {
  if (typeof value !== 'string' || value === '') return ''
  const date = new Date(value)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return Number.isNaN(local.getTime()) ? '' : local.toISOString().slice(0, 19)
}

/** Without them, browsers take years of six digits: who types `2026` and then the time has the year 202610. */
export const LATEST = { date: '9999-12-31', datetime: '9999-12-31T23:59' } as const

/** The instant of a local time. */
export function instantOf(text: string): string | undefined {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

function NumberInput({ field, value, onChange, described }: InputProps & { described: Described }) {
  const { kind, min, max } = field
  return (
    <Native
      {...{ value, onChange, described, min, max }}
      type="number"
      inputMode={kind === 'integer' ? 'numeric' : 'decimal'}
      step={kind === 'integer' ? 1 : 'any'}
      shown={typeof value === 'number' ? value : ''}
      read={Number}
    />
  )
}

/** A control of the browser that has no value while what it shows cannot be read. */
function Native(
  props: Pick<InputProps, 'value' | 'onChange'> & {
    described: Described
    type: 'number' | 'date' | 'datetime-local'
    inputMode?: 'numeric' | 'decimal'
    step?: number | 'any'
    min?: number | undefined
    max?: number | string | undefined
    shown: string | number
    read: (text: string) => unknown
  },
) {
  const { value, onChange, described, shown, read, ...rest } = props
  // Until it is left, it has what was typed: half a day may be in a night without its time.
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown }>()
  const take = ({ value: text, validity }: HTMLInputElement) => {
    const next = text !== '' ? read(text) : validity.badInput ? UNREADABLE : undefined
    setTyped({ text, value: next })
    onChange(next)
  }
  // Half a date after none, and none after half a date, is no change to the browser.
  const look = ({ currentTarget }: SyntheticEvent<HTMLInputElement>) => {
    if (currentTarget.validity.badInput !== (value === UNREADABLE)) take(currentTarget)
  }
  return (
    <input
      {...described}
      {...rest}
      autoComplete="off"
      value={typed && typed.value === value ? typed.text : shown}
      onChange={({ target }) => take(target)}
      onKeyUp={look}
      onBlur={(event) => {
        look(event)
        setTyped(undefined)
      }}
    />
  )
}

/** Whether a field is a box with or without a mark, which cannot be empty. */
export const isBox = (field: Field) => field.kind === 'boolean' && isFilled(field)

function Truth({ field, value, onChange, described }: InputProps & { described: Described }) {
  const t = useStrings()
  if (isBox(field)) {
    const { 'aria-required': _, ...rest } = described
    return (
      <input
        {...rest}
        type="checkbox"
        checked={value === true}
        onChange={({ target }) => onChange(target.checked)}
      />
    )
  }
  const texts = { true: t('yes'), false: t('no') }
  return (
    <select
      {...described}
      value={typeof value === 'boolean' ? String(value) : ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value === 'true')}
    >
      <option value="">–</option>
      {Object.entries(texts).map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  )
}

function Choice({
  field,
  value,
  before,
  onChange,
  described,
}: InputProps & { described: Described }) {
  const t = useStrings()
  const { options = [], transitions, initial } = field
  const next =
    before === undefined ? initial : transitions && [before, ...(transitions[String(before)] ?? [])]
  const offered: unknown[] = options.filter((one) => !next || next.includes(one))
  const isEmpty = value === undefined || value === null
  // The model may have had it once: nothing else is shown for it.
  if (!isEmpty && !offered.includes(value)) offered.push(value)
  return (
    <select
      {...described}
      value={isEmpty ? '' : String(value)}
      onChange={({ target }) => onChange(offered.find((one) => String(one) === target.value))}
    >
      {(!isFilled(field) || isEmpty) && (
        <option value="">{isFilled(field) ? t('choose') : '–'}</option>
      )}
      {offered.map((one) => (
        <option key={String(one)} value={String(one)}>
          {String(one)}
        </option>
      ))}
    </select>
  )
}

/** Anything, as JSON. */
function Json({ value, onChange, described }: InputProps & { described: Described }) {
  // Until somebody types, it is what the record has: that may be read again meanwhile.
  const [typed, setTyped] = useState<string>()
  return (
    <textarea
      {...described}
      className="code"
      rows={6}
      spellCheck={false}
      value={typed ?? JSON.stringify(value, null, 2) ?? ''}
      onChange={({ target }) => {
        setTyped(target.value)
        onChange(jsonOf(target.value))
      }}
    />
  )
}

function jsonOf(text: string): unknown {
  try {
    return text.trim() === '' ? undefined : JSON.parse(text)
  } catch {
    return UNREADABLE
  }
}
