/** Records with files, as a form. It is loaded when it is used. */

/** The form that says what `text`, the JSON of `values`, says, with the files among them. */
export function formOf(values: Readonly<Record<string, unknown>>, text: string): FormData {
  const form = new FormData()
  for (const [name, written] of Object.entries<unknown>(JSON.parse(text))) {
    if (written === null) throw new TypeError(`'${name}' is null, which a form can't say.`)
    const files = [values[name]].flat()
    const part = typeof written === 'string' ? written : JSON.stringify(written)
    const parts = files.some((file) => file instanceof Blob) ? files : [part]
    for (const one of parts) form.append(name, one as Blob)
  }
  return form
}
