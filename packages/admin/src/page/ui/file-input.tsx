/**
 * Files of a record: those that are there, and those that are chosen now.
 *
 * @module
 */

import { useEffect, useState } from 'react'
import type { Field } from '../fields.ts'
import { useStrings } from '../i18n.ts'
import { Icon } from './parts.tsx'
import { FileLink, fileName, urlsOf } from './value.tsx'

/** Chooses files. What is there stays until the record is saved; where there may be several, further ones are added. */
export function FileInput(props: {
  field: Field
  value: unknown
  /** The URLs of what is there. */
  before: unknown
  onChange: (value: unknown) => void
  described: object
}) {
  const { field, value, before, onChange, described } = props
  const t = useStrings()
  const files = [value].flat().filter((one): one is File => one instanceof File)
  const all = [...urlsOf(value), ...files]
  const isLess = field.isMany && urlsOf(before).some((url) => !all.includes(url))
  return (
    <div className="files">
      {all.length > 0 && (
        <span className="chips">
          {all.map((one) => (
            <span className="chips" key={one instanceof File ? keyOf(one) : one}>
              {one instanceof File ? (
                <Preview file={one} />
              ) : (
                <FileLink url={one} accept={field.accept} />
              )}
              {field.isMany && (
                <button
                  type="button"
                  className="quiet"
                  onClick={() => onChange(all.filter((other) => other !== one))}
                >
                  <Icon name="close" />
                  <span className="hidden">
                    {t('remove')} {one instanceof File ? one.name : fileName(one)}
                  </span>
                </button>
              )}
            </span>
          ))}
        </span>
      )}
      <input
        {...described}
        type="file"
        accept={field.accept}
        multiple={field.isMany}
        title={t(field.isMany ? 'chooseFiles' : 'chooseFile')}
        onChange={({ target }) => {
          const known = files.map(keyOf)
          const chosen = [...(target.files ?? [])].filter((one) => !known.includes(keyOf(one)))
          onChange(field.isMany ? [...all, ...chosen] : (target.files?.[0] ?? before ?? undefined))
        }}
      />
      {(files.length > 0 || isLess) && (
        <button type="button" className="link" onClick={() => onChange(before ?? undefined)}>
          {t('clear')}
        </button>
      )}
      {!field.isMany && urlsOf(value).length > 0 && field.isNullable && (
        <button type="button" className="link" onClick={() => onChange(undefined)}>
          {t('remove')}
        </button>
      )}
    </div>
  )
}

const keyOf = ({ name, size, lastModified }: File) => `${name} ${size} ${lastModified}`

/** A chosen file, before it is sent. */
function Preview({ file }: { file: File }) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(file)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [file])
  const size = `${Math.ceil(file.size / 1024)} KB`
  return (
    <span className="file">
      {file.type.startsWith('image/') && url && <img src={url} alt="" />}
      <span>
        {file.name} <span className="muted">{size}</span>
      </span>
    </span>
  )
}
