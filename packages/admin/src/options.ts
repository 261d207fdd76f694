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
}

const KNOWN = { title: isText, resources: isObject, imageOrigins: isOrigins }
const KNOWN_OF_RESOURCES = { title: isText, list: isNames, form: isNames }

/** Throws a `TypeError` that names the option that makes no sense. */
export function checkOptions(options: AdminOptions): void {
  checkEach(options, KNOWN, '')
  for (const [name, resource] of Object.entries(options.resources ?? {})) {
    checkEach(resource, KNOWN_OF_RESOURCES, `resources.${name}.`)
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
