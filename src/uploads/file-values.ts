/** The values of a record's file fields: URLs, alone, as `{ url }`, or in lists of either (spec 2.1). */

import type { FileStore } from '../ports/services/files.ts'
import type { Fields } from '../ports/store/records.ts'
import { type FileField, MAX_LINK_SECONDS, type Upload } from './options.ts'

export type Keys = Pick<FileStore, 'keyOf'> | undefined

export function urlsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(urlsIn)
  if (typeof value !== 'object' || value === null) return []
  const { url } = value as { url?: unknown }
  return typeof url === 'string' ? [url] : []
}

/** The value of a file field after an upload; `kept` are the elements of a list that stay. */
export function fileValue(
  field: Required<FileField>,
  kept: readonly unknown[],
  urls: readonly string[],
): unknown {
  const values = urls.map((url) => (field.formatToUrlObject ? { url } : url))
  return field.maxCount > 1 ? [...kept, ...values] : values[0]
}

/**
 * `body` without the URLs that a client put into the file fields `names`. URLs that the record already holds may stay,
 * even as a signed link; null and an empty list clear the field; everything else is dropped.
 */
export function withoutForeignUrls(
  names: Iterable<string>,
  body: Fields,
  stored: Fields | undefined,
  store: Keys,
): Fields {
  const own = { ...body }
  for (const name of names) {
    if (!Object.hasOwn(own, name)) continue
    const value = ownValue(own[name], stored?.[name], store)
    if (value === undefined) delete own[name]
    else own[name] = value
  }
  return own
}

function ownValue(sent: unknown, stored: unknown, store: Keys): unknown {
  if (sent === null || (Array.isArray(sent) && sent.length === 0)) return sent
  const wanted = urlsIn(sent).map((url) => identity(url, store))
  if (!Array.isArray(stored)) {
    const [url] = urlsIn(stored)
    const same = url !== undefined && wanted.length === 1 && wanted[0] === identity(url, store)
    return same && !Array.isArray(sent) ? stored : undefined
  }
  const held = new Map(stored.map((item) => [identity(urlsIn(item)[0] ?? '', store), item]))
  const kept = [...new Set(wanted)].flatMap((url) => (held.has(url) ? [held.get(url)] : []))
  return kept.length > 0 ? kept : undefined
}

/** `changes` without those URLs in the fields `names` whose files are gone, according to `isGone`. */
export function withoutGoneFiles(
  names: readonly string[],
  changes: Fields,
  isGone: (url: string) => boolean,
): Fields {
  const kept = { ...changes }
  for (const name of names) {
    const value = kept[name]
    if (Array.isArray(value)) kept[name] = value.filter((item) => !urlsIn(item).some(isGone))
    else if (urlsIn(value).some(isGone)) delete kept[name]
  }
  return kept
}

/** Two URLs are the same file if they lead to the same key: a signed link changes with every read. */
function identity(url: string, store: Keys): string {
  return store?.keyOf(url) ?? url
}

/** A copy of `record` with `change` of each URL in the file fields `names`. */
export function withUrls(
  record: Fields,
  names: Iterable<string>,
  change: (url: string) => string,
): Fields {
  const changed = (value: unknown): unknown => {
    if (typeof value === 'string') return change(value)
    if (Array.isArray(value)) return value.map(changed)
    if (typeof value !== 'object' || value === null || !('url' in value)) return value
    return { ...value, url: changed(value.url) }
  }
  const copy = { ...record }
  for (const name of names) if (Object.hasOwn(record, name)) copy[name] = changed(record[name])
  return copy
}

/**
 * A copy of `record` with signed links in its file fields. A response that contains it may be reused for `keptFor`
 * seconds: the links still last the promised time then.
 */
export async function withSignedUrls(
  upload: Upload,
  record: Fields,
  store: FileStore,
  keptFor = 0,
): Promise<Fields> {
  const { signUrls } = upload
  if (signUrls === undefined) return record
  const seconds = Math.min(signUrls + keptFor, MAX_LINK_SECONDS)
  // The same links for a while: otherwise entity tags, and the images in browsers' caches, would last only a second.
  const steady = Math.ceil(signUrls / 2)
  const links = new Map<string, string>()
  for (const url of [...upload.fields.keys()].flatMap((name) => urlsIn(record[name]))) {
    if (store.keyOf(url) !== undefined) links.set(url, await store.signedUrl(url, seconds, steady))
  }
  return withUrls(record, upload.fields.keys(), (url) => links.get(url) ?? url)
}
