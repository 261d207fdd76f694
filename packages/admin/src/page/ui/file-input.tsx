/**
 * Files of a record: those that are there, and those that are chosen now.
 *
 * @module
 */

import { useEffect, useState } from 'react'
import type { Field } from '../fields.ts'
import { useStrings } from '../i18n.ts'
import { FileLink } from './value.tsx'

/** Chooses files. What is there stays until the record is saved. */
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
  const all = [value].flat()
  const urls = all.filter((one): one is string => typeof one === 'string' && one !== '')
  const files = all.filter((one): one is File => one instanceof File)
  return (
    <div className="files">
      {(urls.length > 0 || files.length > 0) && (
        <span className="chips">
          {urls.map((url) => (
            <FileLink key={url} url={url} accept={field.accept} />
          ))}
          {files.map((file) => (
            <Preview key={`${file.name} ${file.lastModified}`} file={file} />
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
          const chosen = [...(target.files ?? [])]
          onChange(field.isMany ? chosen : chosen[0])
        }}
      />
      {files.length > 0 && (
        <button type="button" className="link" onClick={() => onChange(before ?? undefined)}>
          {t('clear')}
        </button>
      )}
      {urls.length > 0 && field.isNullable && (
        <button type="button" className="link" onClick={() => onChange(undefined)}>
          {t('remove')}
        </button>
      )}
    </div>
  )
}

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
