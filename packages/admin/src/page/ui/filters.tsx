/**
 * Rules that narrow a list: all of them, or any.
 *
 * @module
 */

import type { ListControllerResult } from 'ra-core'
import { type SyntheticEvent, useId, useState } from 'react'
import type { Resource } from '../document.ts'
import type { Field } from '../fields.ts'
import { useStrings } from '../i18n.ts'
import { isComplete, type Narrowing, type Operator, operatorsFor, type Rule } from '../rules.ts'
import { useAsked } from './asked.ts'
import { instantOf, LATEST, localOf } from './controls.tsx'
import { useKeys } from './keys-of.ts'
import { Icon } from './parts.tsx'
import { ReferenceInput } from './reference.tsx'

/** The rules of a list. Those that are complete hold at once. */
export function Filters({ resource, list }: { resource: Resource; list: ListControllerResult }) {
  const t = useStrings()
  const { rules: held = [], any = false } = list.filterValues as Narrowing
  const [rules, setRules] = useState<readonly Rule[]>(held.length > 0 ? held : [firstOf(resource)])
  const order = useKeys(rules.length)
  // They were cleared, or the address has others.
  const ask = useAsked(JSON.stringify(held), () => setRules(held))
  const apply = (next: readonly Rule[], isAny = any) => {
    setRules(next)
    const complete = next.filter(isComplete)
    ask(JSON.stringify(complete))
    const before = list.filterValues as Narrowing
    list.setFilters({ ...before, rules: complete, ...(isAny ? { any: true } : { any: undefined }) })
  }
  const takesOr = resource.filters.some(({ operators }) => operators.length > 1)
  return (
    <fieldset className="filters">
      <legend className="hidden">{t('filters')}</legend>
      {takesOr && rules.length > 1 && (
        <label className="match">
          {t('match')}
          <select
            value={any ? 'any' : 'all'}
            onChange={({ target }) => apply(rules, target.value === 'any')}
          >
            <option value="all">{t('all')}</option>
            <option value="any">{t('any')}</option>
          </select>
        </label>
      )}
      {rules.map((rule, at) => (
        <RuleLine
          key={`${order.keys[at]} ${rule.field}`}
          {...{ resource, rule }}
          onChange={(next) => apply(rules.with(at, next))}
          onRemove={() => {
            order.remove(at)
            apply(rules.toSpliced(at, 1))
          }}
        />
      ))}
      <button
        type="button"
        className="quiet"
        onClick={() => setRules([...rules, firstOf(resource)])}
      >
        <Icon name="plus" />
        {t('addFilter')}
      </button>
    </fieldset>
  )
}

function firstOf({ filters: [first] }: Resource): Rule {
  const [operator = 'eq'] = first ? operatorsFor(first.field, first.operators) : []
  return { field: first?.field.name ?? '', operator, value: '' }
}

function RuleLine(props: {
  resource: Resource
  rule: Rule
  onChange: (rule: Rule) => void
  onRemove: () => void
}) {
  const { resource, rule, onChange, onRemove } = props
  const t = useStrings()
  const found = resource.filters.find(({ field }) => field.name === rule.field)
  const operators = found ? operatorsFor(found.field, found.operators) : []
  const hasValue = rule.operator !== 'empty' && rule.operator !== 'set'
  return (
    <div className="rule">
      <select
        aria-label={t('field')}
        value={rule.field}
        onChange={({ target: { value: field } }) => {
          const next = resource.filters.find((one) => one.field.name === field)
          const [operator = 'eq'] = next ? operatorsFor(next.field, next.operators) : []
          onChange({ field, operator, value: '' })
        }}
      >
        {!found && <option>{rule.field}</option>}
        {resource.filters.map(({ field }) => (
          <option key={field.name} value={field.name}>
            {field.label}
          </option>
        ))}
      </select>
      <select
        aria-label={t('operator')}
        value={rule.operator}
        onChange={({ target }) => onChange({ ...rule, operator: target.value as Operator })}
      >
        {operators.map((one) => (
          <option key={one} value={one}>
            {t(`operator.${one}`)}
          </option>
        ))}
      </select>
      {found && hasValue && (
        <RuleValue
          field={found.field}
          value={rule.value}
          onChange={(value) => onChange({ ...rule, value })}
        />
      )}
      <button type="button" className="quiet" onClick={onRemove}>
        <Icon name="close" />
        <span className="hidden">{t('removeFilter')}</span>
      </button>
    </div>
  )
}

const TYPES: Partial<Record<Field['kind'], string>> = {
  number: 'number',
  integer: 'number',
  date: 'date',
  datetime: 'datetime-local',
}

function RuleValue(props: { field: Field; value: string; onChange: (value: string) => void }) {
  const { field, value, onChange } = props
  const t = useStrings()
  const options = field.kind === 'boolean' ? [true, false] : (field.options ?? field.item?.options)
  const model = field.model ?? field.item?.model
  if (model !== undefined) {
    return (
      <ReferenceInput
        {...{ model, value }}
        label={t('value')}
        onChange={(id) => onChange(id ?? '')}
      />
    )
  }
  if (options) {
    return (
      <select
        aria-label={t('value')}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      >
        <option value="">{t('choose')}</option>
        {options.map((one) => (
          <option key={String(one)} value={String(one)}>
            {one === true ? t('yes') : one === false ? t('no') : one}
          </option>
        ))}
      </select>
    )
  }
  const type = TYPES[field.item?.kind ?? field.kind] ?? 'text'
  // The address has the instant, which is the same wherever it is opened.
  const local = { show: localOf, read: (text: string) => instantOf(text) ?? '' }
  const given = { label: t('value'), type, value, onChange }
  return <LateInput {...given} {...(type === 'datetime-local' && local)} />
}

/** A line that counts when it is left, or on Enter: each letter would be a request. */
function LateInput(props: {
  label: string
  type: string
  value: string
  onChange: (value: string) => void
  /** How a value is written, and what is read from that, where they differ. */
  show?: (value: string) => string
  read?: (text: string) => string
}) {
  const { label, type, value, onChange, show = String, read = String } = props
  const t = useStrings()
  const id = useId()
  const [text, setText] = useState(show(value))
  const [isBad, setBad] = useState(false)
  const [known, setKnown] = useState(value)
  if (value !== known) {
    // The address has another one.
    setKnown(value)
    setText(show(value))
  }
  const take = (next: string) => {
    setKnown(next)
    onChange(next)
  }
  const leave = ({ currentTarget }: SyntheticEvent<HTMLInputElement>) => {
    setBad(currentTarget.validity.badInput)
    if (read(text) === value) setText(show(value))
    else take(read(text))
  }
  return (
    <>
      <input
        aria-label={label}
        aria-invalid={isBad}
        aria-describedby={isBad ? id : undefined}
        type={type}
        step="any"
        max={
          type === 'date' ? LATEST.date : type === 'datetime-local' ? LATEST.datetime : undefined
        }
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setBad(false)
          if (type !== 'text') take(read(target.value))
        }}
        onBlur={leave}
        onKeyDown={(event) => event.key === 'Enter' && leave(event)}
      />
      {isBad && (
        <p id={id} role="alert" className="error">
          {t('unreadable')}
        </p>
      )}
    </>
  )
}
