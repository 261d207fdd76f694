/**
 * The options of `admin`.
 *
 * @module
 */

/** How the records of a mount are shown. */
export interface ResourceOptions {
  /** The name in the menu and above the list. Default: made of the mount, so `/order-lines` is "Order lines". */
  readonly title?: string
  /** The columns that a list begins with; the user may choose others. Default: the first six. */
  readonly list?: readonly string[]
  /** The fields of the form, in this order. Default: all. */
  readonly form?: readonly string[]
}

/** A provider of the auth router's `social` at which people can sign in to the page. */
export interface AdminProviderOptions {
  /** What the provider calls your app, as in `social`. */
  readonly clientId: string
  /** Where the browser is sent. Default: the page of Google, Facebook or GitHub. */
  readonly url?: string
  /** What it is asked for. Default: the address and the name. */
  readonly scope?: string
  /** What comes back, and is sent to `POST /social/:provider`. Default: what Google, Facebook or GitHub give. */
  readonly gives?: 'idToken' | 'accessToken' | 'code'
}

/** Options of `admin`. */
export interface AdminOptions {
  /** The name of the page. Default `Admin`. */
  readonly title?: string
  /** How records are shown, by the mount without its first slash: `{ cities: { title: 'Cities', list: ['name'] } }`. */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /**
   * Where images may be loaded from beside the app, such as the bucket of uploads: `['https://files.example.com']`. Without
   * it, images of other origins are shown as links.
   */
  readonly imageOrigins?: readonly string[]
  /**
   * Providers of the auth router's `social` to sign in at, by their names: `{ google: { clientId } }`. Register the page's
   * URL with them, such as `https://example.com/admin`. Providers of `oidc` need no option.
   */
  readonly providers?: Readonly<Record<string, AdminProviderOptions>>
}

const KNOWN = {
  title: isText,
  resources: isObject,
  imageOrigins: isOrigins,
  providers: isObject,
}
const KNOWN_OF_PROVIDERS = { clientId: isText, url: isUrl, scope: isString, gives: isCredential }
const KNOWN_OF_RESOURCES = { title: isText, list: isNames, form: isNames }

/** Throws a `TypeError` that names the option that makes no sense. */
export function checkOptions(options: AdminOptions): void {
  checkEach(options, KNOWN, '')
  for (const [name, resource] of Object.entries(options.resources ?? {})) {
    checkEach(resource, KNOWN_OF_RESOURCES, `resources.${name}.`)
  }
  for (const [name, provider] of Object.entries(options.providers ?? {})) {
    checkEach(provider, KNOWN_OF_PROVIDERS, `providers.${name}.`)
    for (const needed of ['clientId', 'url', 'gives'] as const) {
      if (providerOf(name, provider)[needed] === undefined) {
        throw new TypeError(`admin: 'providers.${name}' needs '${needed}'`)
      }
    }
  }
}

function checkEach(
  given: object,
  known: Readonly<Record<string, (value: unknown) => string | undefined>>,
  within: string,
): void {
  if (!(given instanceof Object)) throw new TypeError(`admin: the options must be an object`)
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(known, name) ? known[name] : undefined
    if (!check) {
      const names = Object.keys(known).join(', ')
      throw new TypeError(`admin: unknown option '${within}${name}'. There are: ${names}`)
    }
    const wrong = value === undefined ? undefined : check(value)
    if (wrong) throw new TypeError(`admin: '${within}${name}' must ${wrong}`)
  }
}

const STANDARD: Readonly<Record<string, Omit<AdminProviderOptions, 'clientId'>>> = {
  google: {
    url: 'https://accounts.google.com/o/oauth2/v2/auth',
    scope: 'openid email profile',
    gives: 'idToken',
  },
  facebook: {
    url: 'https://www.facebook.com/dialog/oauth',
    scope: 'email,public_profile',
    gives: 'accessToken',
  },
  github: {
    url: 'https://github.com/login/oauth/authorize',
    scope: 'read:user user:email',
    gives: 'code',
  },
}

/** A provider with what is not said of it. */
export function providerOf(name: string, given: AdminProviderOptions): AdminProviderOptions {
  const standard = Object.hasOwn(STANDARD, name) ? STANDARD[name] : undefined
  return { scope: 'openid email profile', ...standard, ...given }
}

function isUrl(value: unknown): string | undefined {
  const isSafe = URL.canParse(`${value}`) && /^https?:$/.test(new URL(`${value}`).protocol)
  return isSafe ? undefined : "be a URL, like 'https://login.example.com/authorize'"
}

function isString(value: unknown): string | undefined {
  return typeof value === 'string' ? undefined : 'be a string'
}

function isCredential(value: unknown): string | undefined {
  const isKnown = ['idToken', 'accessToken', 'code'].includes(`${value}`)
  return isKnown ? undefined : "be 'idToken', 'accessToken' or 'code'"
}

function isText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? undefined : 'be a string that is not empty'
}

function isObject(value: unknown): string | undefined {
  return value instanceof Object && !Array.isArray(value) ? undefined : 'be an object'
}

function isNames(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.every((name) => typeof name === 'string')
  return isList ? undefined : 'be a list of field names'
}

function isOrigins(value: unknown): string | undefined {
  const isOrigin = (text: unknown) => URL.canParse(`${text}`) && new URL(`${text}`).origin === text
  const isList = Array.isArray(value) && value.every(isOrigin)
  return isList ? undefined : "be a list of origins, like 'https://files.example.com'"
}
