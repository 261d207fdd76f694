/**
 * Values as they are written: one control for each kind of field.
 *
 * @module
 */

import { useState } from 'react'
import type { Field } from '../fields.ts'
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
          {...{ label, onChange, value: value as string | undefined }}
          id={described.id}
          describedBy={described['aria-describedby']}
          isInvalid={described['aria-invalid']}
          isRequired={field.isRequired}
        />
      )
    case 'file':
      return <FileInput {...{ field, value, before: props.before, onChange, described }} />
    case 'json':
    case 'list':
    case 'object':
      return <Json {...props} />
    case 'long':
      return (
        <textarea
          {...described}
          rows={5}
          value={textOf(value)}
          onChange={({ target }) => onChange(target.value)}
        />
      )
    case 'number':
    case 'integer':
      return <NumberInput {...props} />
    case 'datetime':
      return (
        <input
          {...described}
          type="datetime-local"
          step="any"
          value={localOf(value)}
          onChange={({ target }) =>
            onChange(target.value === '' ? undefined : new Date(target.value).toISOString())
          }
        />
      )
    case 'date':
    case 'email':
    case 'text':
    case 'url':
      return (
        <input
          {...described}
          type={field.kind}
          autoComplete="off"
          value={textOf(value)}
          onChange={({ target }) => onChange(target.value)}
        />
      )
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** An instant as the browser's control takes it: in local time. */
function localOf(value: unknown): string {
  if (typeof value !== 'string' || value === '') return ''
  const date = new Date(value)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return Number.isNaN(local.getTime()) ? '' : local.toISOString().slice(0, 19)
}

function NumberInput({ field, value, onChange, described }: InputProps & { described: Described }) {
  const { kind, min, max } = field
  return (
    <input
      {...described}
      type="number"
      inputMode={kind === 'integer' ? 'numeric' : 'decimal'}
      step={kind === 'integer' ? 1 : 'any'}
      {...{ min, max }}
      value={typeof value === 'number' ? value : ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
    />
  )
}

function Truth({ field, value, onChange, described }: InputProps & { described: Described }) {
  const t = useStrings()
  if (field.isRequired) {
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
  const { options = [], transitions, initial, isRequired } = field
  const next =
    before === undefined ? initial : transitions && [before, ...(transitions[String(before)] ?? [])]
  const offered = next ? options.filter((one) => next.includes(one)) : options
  return (
    <select
      {...described}
      value={value === undefined || value === null ? '' : String(value)}
      onChange={({ target }) => onChange(options.find((one) => String(one) === target.value))}
    >
      {(!isRequired || value === undefined) && (
        <option value="">{isRequired ? t('choose') : '–'}</option>
      )}
      {offered.map((one) => (
        <option key={String(one)} value={String(one)}>
          {String(one)}
        </option>
      ))}
    </select>
  )
}

/** Anything, as JSON. It counts when it is valid. */
function Json({ value, onChange, described }: InputProps & { described: Described }) {
  const t = useStrings()
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const [isWrong, setWrong] = useState(false)
  return (
    <>
      <textarea
        {...described}
        aria-invalid={isWrong || described['aria-invalid']}
        className="code"
        rows={6}
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          try {
            onChange(target.value.trim() === '' ? undefined : JSON.parse(target.value))
            setWrong(false)
          } catch {
            setWrong(true)
          }
        }}
      />
      {isWrong && (
        <p className="error" role="alert">
          {t('invalidJson')}
        </p>
      )}
    </>
  )
}
