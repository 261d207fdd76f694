/** Links to files of an app that another server mounts: records hold the app's own path, responses show the whole. */

import { type ApiRequest, basePathOf } from '../http/request/request.ts'
import type { FileStore } from '../ports/services/files.ts'
import type { Fields } from '../ports/store/records.ts'
import { type Keys, withUrls } from './file-values.ts'

/** Whether links to the files of `store` differ from what records hold. */
export function areLinksBelow(request: ApiRequest, store: FileStore | undefined): boolean {
  const url = store?.urlOf('') ?? ''
  return linkBelow(request, url) !== url
}

/** `url` as browsers ask for it. It may name the path of the mount already, or another host. */
function linkBelow(request: ApiRequest, url: string): string {
  const base = basePathOf(request)
  return /^\/(?!\/)/.test(url) && !url.startsWith(`${base}/`) ? base + url : url
}

/** A copy of `record` whose links to files of `store`, in the fields `names`, are as browsers ask for them. */
export function withLinksBelow(
  request: ApiRequest,
  record: Fields,
  names: Iterable<string>,
  store: FileStore,
): Fields {
  const isOwn = (url: string) => store.keyOf(url) !== undefined
  return withUrls(record, names, (url) => (isOwn(url) ? linkBelow(request, url) : url))
}

/** The keys of links, also as `withLinksBelow` shows them. */
export function keysBelow(request: ApiRequest, store: Keys): Keys {
  const base = basePathOf(request)
  if (!store || base === '') return store
  return {
    keyOf: (url) =>
      store.keyOf(url) ??
      (url.startsWith(`${base}/`) ? store.keyOf(url.slice(base.length)) : undefined),
  }
}
