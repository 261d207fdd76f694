/** Links to files that the app serves itself: their URLs, and the signatures that open private ones for a while. */

import { base64url, bytesIn } from '../../src/http/base64url.ts'
import { callable, checkOptions, matching, type Rule, text } from '../../src/model/option-rules.ts'
import { FileForbidden, type FileStore, isKey } from '../../src/ports/services/files.ts'
import { type ServedObject, serveObject } from './serving.ts'

/** The link options of a store whose files the app serves. */
export interface LinkOptions {
  /** Signs links to private files; at least 32 characters. */
  readonly secret: string
  /**
   * The prefix of the files' URLs: a path of the app, or a URL that leads to it, e.g.
   * `'https://api.example.com/uploads'`. The app serves everything below its path. Default `'/uploads'`.
   */
  readonly url?: string
  /** The clock, in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

export type Links = Required<Pick<FileStore, 'urlOf' | 'keyOf' | 'signedUrl' | 'serve'>>

const RULES: Readonly<Record<keyof LinkOptions, Rule>> = {
  secret: matching('have at least 32 characters', /^.{32}/s),
  url: text,
  now: callable,
}

/** The length of an HMAC-SHA-256 in base64url. */
const SIGNATURE_LENGTH = 43
/** Gives a relative URL a host so that it can be parsed; without a Host, Bun gives a request none. */
const ANY_HOST = 'http://localhost'

/**
 * The links of `options` to the objects that `find` finds; `store` is the store's name in start-up errors, and `more` what
 * else its options may have.
 */
export function links(
  store: string,
  options: LinkOptions,
  find: (key: string) => Promise<ServedObject | undefined>,
  more: Readonly<Record<string, Rule>> = {},
): Links {
  const { secret = '', url: base = '/uploads', now = () => Date.now() } = { ...options }
  checkOptions({ ...options, secret }, { ...RULES, ...more }, store)
  const start = base.replace(/(^|[^/])\/+$/, '$1')
  if (!/^(?:https?:\/\/[^/?#]+)?(?:\/[\w.~-]+)+$/.test(start)) {
    throw new TypeError(`${store}: 'url' must be a path or an http URL with one, as in '/uploads'`)
  }
  const folder = `${new URL(start, ANY_HOST).pathname}/`
  const signingKey = importKey(secret)
  const keyIn = (pathname: string): string | undefined => {
    const key = pathname.startsWith(folder) ? pathname.slice(folder.length) : ''
    return isKey(key) ? key : undefined
  }
  const keyOf = (url: string): string | undefined => {
    if (!url.startsWith(`${start}/`)) return undefined
    return keyIn(url.slice(start.length - folder.length + 1).split(/[?#]/, 1)[0] ?? '')
  }
  const isSigned = async ({ searchParams }: URL, key: string): Promise<boolean> => {
    const expires = searchParams.get('expires') ?? ''
    const given = searchParams.get('signature') ?? ''
    const signature = given.length === SIGNATURE_LENGTH ? bytesIn(given) : undefined
    if (!/^\d{1,15}$/.test(expires) || !signature || Number(expires) * 1000 <= now()) return false
    return crypto.subtle.verify('HMAC', await signingKey, signature, message(key, Number(expires)))
  }
  return {
    urlOf: (key) => `${start}/${key}`,
    keyOf,
    async serve(request) {
      // An invalid Host makes no URL; the others may be of any host.
      const url = URL.parse(request.url, ANY_HOST)
      const key = url ? keyIn(url.pathname) : undefined
      if (!url || key === undefined) return undefined
      const object = await find(key)
      if (!object) return undefined
      if (object.acl !== 'public-read' && !(await isSigned(url, key))) {
        throw new FileForbidden('the link is not signed, or has expired')
      }
      return serveObject(request, object)
    },
    async signedUrl(url, seconds, steady = 0) {
      const key = keyOf(url)
      if (key === undefined) throw new TypeError(`${store}: not a URL of this store`)
      const { from, lasts } = lifetime(now(), seconds, steady)
      const expires = from + lasts
      const signature = await crypto.subtle.sign('HMAC', await signingKey, message(key, expires))
      return `${start}/${key}?expires=${expires}&signature=${base64url(new Uint8Array(signature))}`
    },
  }
}

/**
 * When a link begins, in seconds since the epoch, and how many seconds it lasts, that opens for `seconds` from `now`
 * (milliseconds), and is the same for `steady` seconds. Links count whole seconds, so one that is not steady is the same for
 * one second.
 */
export function lifetime(
  now: number,
  seconds: number,
  steady: number,
): { readonly from: number; readonly lasts: number } {
  const step = Math.max(1, Math.ceil(steady))
  return { from: Math.floor(now / 1000 / step) * step, lasts: Math.ceil(seconds) + step }
}

function importKey(secret: string): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = new TextEncoder().encode(secret)
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify'])
}

/** The label makes the signature invalid elsewhere, if the secret is used twice. */
function message(key: string, expires: number): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`fieldgate file link\n${key}\n${expires}`)
}
