/** Records with files, as a form. It is loaded when it is used. */

/** The form that says what `text`, the JSON of `values`, says, with the files among them; `text`, if there are none. */
export function formOf(values: Readonly<Record<string, unknown>>, text: string): FormData | string {
  if (!Object.values(values).flat().some(isFile)) return text
  const form = new FormData()
  for (const [name, written] of Object.entries<unknown>(JSON.parse(text))) {
    if (written === null) throw new TypeError(`'${name}' is null, which a form can't say.`)
    const files = [values[name]].flat()
    const part = typeof written === 'string' ? written : JSON.stringify(written)
    const parts = files.some(isFile) ? files : [part]
    for (const one of parts) form.append(name, one as Blob)
  }
  return form
}

/** React Native's forms have files by their addresses, on the device. */
function isFile(value: unknown): boolean {
  const { uri, type } = (value ?? {}) as Readonly<Record<string, unknown>>
  const isNative = typeof uri === 'string' && typeof type === 'string' && !/^https?:/.test(uri)
  return value instanceof Blob || (isNative && 'getParts' in FormData.prototype)
}
