/**
 * Fields of a form, with what is inside them.
 *
 * @module
 */

import { useId, useState } from 'react'
import { type Field, isFilled } from '../fields.ts'
import { begunItem, UNREADABLE, withMember } from '../form-values.ts'
import { useStrings } from '../i18n.ts'
import { Control, type Described, type InputProps, isBox } from './controls.tsx'
import { useKeys } from './keys-of.ts'
import { Button, Icon } from './parts.tsx'

/** A field with its name, its control and what is wrong with it. */
export function Input(props: InputProps) {
  const { field, path, errors } = props
  const t = useStrings()
  const id = useId()
  if (field.kind === 'object') return <Group {...props} />
  if (field.kind === 'list' && field.item) return <Items {...props} item={field.item} />
  // Of JSON it is said at once; half a date may become one.
  const isJson = props.value === UNREADABLE && ['json', 'list'].includes(field.kind)
  const error = isJson ? t('invalidJson') : errors[path]
  const below = `${id}below`
  const described: Described = {
    id,
    'aria-describedby': error || field.help ? below : undefined,
    'aria-invalid': error !== undefined,
    'aria-required': isFilled(field),
  }
  const label = props.label ?? field.label
  const isCheck = isBox(field)
  return (
    <div className={`field ${isCheck ? 'check' : ''}`}>
      <label htmlFor={id}>
        {label}
        {isFilled(field) && !isCheck && <Star />}
      </label>
      <Control {...props} label={label} described={described} />
      <Below id={below} error={error} help={field.help} />
    </div>
  )
}

/** What is wrong with a field, or what it is for. */
function Below(props: { id?: string; error: string | undefined; help?: string | undefined }) {
  const { id, error, help } = props
  if (!error && !help) return null
  return (
    <p id={id} tabIndex={-1} className={error ? 'error' : 'muted'}>
      {error ?? help}
    </p>
  )
}

const Star = () => (
  <span className="star" aria-hidden="true">
    {' *'}
  </span>
)

/** The fields of an object. */
function Group({ field, path, value, onChange, errors, before, label }: InputProps) {
  const t = useStrings()
  const [round, setRound] = useState(0)
  const values = (value ?? {}) as Readonly<Record<string, unknown>>
  return (
    <fieldset className="group">
      <legend>{label ?? field.label}</legend>
      <Below error={errors[path]} />
      {field.fields?.map((inner) => (
        <Input
          key={`${inner.name} ${round}`}
          field={inner}
          path={`${path}.${inner.name}`}
          value={values[inner.name]}
          onChange={(next) => onChange(withMember(field, value, inner, next))}
          errors={errors}
          before={(before as typeof values | undefined)?.[inner.name]}
        />
      ))}
      {!isFilled(field) && value instanceof Object && (
        <button
          type="button"
          className="quiet"
          onClick={() => {
            setRound(round + 1)
            onChange(undefined)
          }}
        >
          <Icon name="close" />
          {t('remove')}
          <span className="hidden"> {label ?? field.label}</span>
        </button>
      )}
    </fieldset>
  )
}

/** The elements of a list, in their order. */
function Items(props: InputProps & { item: Field }) {
  const { field, path, value, onChange, errors, item, label } = props
  const t = useStrings()
  const values = Array.isArray(value) ? (value as readonly unknown[]) : []
  const order = useKeys(values.length)
  const move = (at: number, to: number) => {
    order.move(at, to)
    const next = values.toSpliced(at, 1)
    onChange(next.toSpliced(to, 0, values[at]))
  }
  return (
    <fieldset className="group">
      <legend>
        {label ?? field.label}
        {isFilled(field) && <Star />}
      </legend>
      <Below error={errors[path]} />
      {values.map((one, at) => (
        <div className="item" key={order.keys[at]}>
          <Input
            field={item}
            path={`${path}.${at}`}
            label={`${label ?? field.label} ${at + 1}`}
            value={one}
            onChange={(next) => onChange(values.with(at, next ?? null))}
            errors={errors}
          />
          <ItemButtons
            {...{ at, count: values.length, move }}
            onRemove={() => {
              order.remove(at)
              onChange(values.toSpliced(at, 1))
            }}
          />
        </div>
      ))}
      <button
        type="button"
        className="quiet"
        onClick={() => onChange([...values, begunItem(item)])}
      >
        <Icon name="plus" />
        {t('add')}
        <span className="hidden"> {label ?? field.label}</span>
      </button>
    </fieldset>
  )
}

function ItemButtons(props: {
  at: number
  count: number
  move: (at: number, to: number) => void
  onRemove: () => void
}) {
  const { at, count, move, onRemove } = props
  const t = useStrings()
  return (
    <span className="item-buttons">
      <Button className="quiet" isOff={at === 0} onClick={() => move(at, at - 1)}>
        <Icon name="up" />
        <span className="hidden">{`${t('moveUp')} ${at + 1}`}</span>
      </Button>
      <Button className="quiet" isOff={at === count - 1} onClick={() => move(at, at + 1)}>
        <Icon name="down" />
        <span className="hidden">{`${t('moveDown')} ${at + 1}`}</span>
      </Button>
      <button type="button" className="quiet" onClick={onRemove}>
        <Icon name="close" />
        <span className="hidden">{t('removeItem', { number: at + 1 })}</span>
      </button>
    </span>
  )
}
